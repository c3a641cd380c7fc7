package decode

import (
	"slices"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// TestRepeatPenalty adjusts the same logits behind different texts. The
// prompt counts as well as the answer.
func TestRepeatPenalty(t *testing.T) {
	logits := []float32{4, -4, 2, 0}
	for _, tt := range []struct {
		name     string
		sampling engine.Sampling
		prompt   []int32
		answer   []int32
		want     []float32
	}{
		{"none set", engine.Sampling{RepeatLastN: new(64)}, []int32{0, 1}, nil, []float32{4, -4, 2, 0}},
		{"one", engine.Sampling{RepeatPenalty: new(1.0), RepeatLastN: new(64)}, []int32{0, 1}, nil, []float32{4, -4, 2, 0}},
		{"no window", engine.Sampling{RepeatPenalty: new(2.0)}, []int32{0, 1}, nil, []float32{4, -4, 2, 0}},
		{"prompt", engine.Sampling{RepeatPenalty: new(2.0), RepeatLastN: new(64)}, []int32{0, 1}, nil, []float32{2, -8, 2, 0}},
		{"prompt and answer", engine.Sampling{RepeatPenalty: new(2.0), RepeatLastN: new(64)}, []int32{0}, []int32{2, 3}, []float32{2, -4, 1, 0}},
		{"twice is as once", engine.Sampling{RepeatPenalty: new(2.0), RepeatLastN: new(64)}, []int32{0, 0}, []int32{0}, []float32{2, -4, 2, 0}},
		{"a short window", engine.Sampling{RepeatPenalty: new(2.0), RepeatLastN: new(2)}, []int32{0, 1, 2}, nil, []float32{4, -8, 1, 0}},
		{"it moves on", engine.Sampling{RepeatPenalty: new(2.0), RepeatLastN: new(2)}, []int32{0, 1}, []int32{2, 3}, []float32{4, -4, 1, 0}},
		{"a token that is in it again", engine.Sampling{RepeatPenalty: new(2.0), RepeatLastN: new(2)}, []int32{0, 0}, []int32{2}, []float32{2, -4, 1, 0}},
		{"all", engine.Sampling{RepeatPenalty: new(2.0), RepeatLastN: new(-1)}, append([]int32{0}, slices.Repeat([]int32{2}, 1000)...), nil, []float32{2, -4, 1, 0}},
		{"a reward", engine.Sampling{RepeatPenalty: new(0.5), RepeatLastN: new(-1)}, []int32{2}, nil, []float32{4, -4, 4, 0}},
		{"an image in the prompt", engine.Sampling{RepeatPenalty: new(2.0), RepeatLastN: new(-1)}, []int32{-5, 2, 99}, nil, []float32{4, -4, 1, 0}},
	} {
		got := slices.Clone(logits)
		tt.sampling.Fill(engine.NeutralSampling())
		if r := newRepeatPenalty(tt.sampling, tt.prompt); r != nil {
			for _, token := range tt.answer {
				r.add(token)
			}
			r.adjust(got)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestRepeatPenaltyInTurn generates: each token of the answer is penalised in
// the steps behind it, and the logprobs stay the model's own.
func TestRepeatPenaltyInTurn(t *testing.T) {
	alternatives := 1
	s := newSampler(words("a", "b", "c"), chat.Job{
		Prompt:   []int32{4},
		Logprobs: &alternatives,
		Sampling: engine.Sampling{RepeatPenalty: new(4.0), RepeatLastN: new(2)},
	})
	got := ""
	for range 4 {
		c, err := s.next([]float32{-9, -9, 1, 2, 3}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got += string(c.text)
		if string(c.top[0].Token) != "c" {
			t.Errorf("behind %q the model itself finds %q most likely, want c", got, c.top[0].Token)
		}
	}
	if want := "bacb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
