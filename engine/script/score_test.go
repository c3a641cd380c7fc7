package script

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/prompt"
)

func TestScore(t *testing.T) {
	half := math.Log(0.5)
	for _, tt := range []struct {
		name, text string
		want       []engine.TokenLogprob
	}{
		{"nothing", "", nil},
		{"a word", "one", []engine.TokenLogprob{{Token: []byte("one"), Logprob: math.NaN()}}},
		{"words", " one\n two ", []engine.TokenLogprob{
			{Token: []byte(" one"), Logprob: math.NaN()},
			{Token: []byte("\n two"), Logprob: half, Top: []engine.TokenLogprob{{Token: []byte("\n two"), Logprob: half}}},
			{Token: []byte(" "), Logprob: half, Top: []engine.TokenLogprob{{Token: []byte(" "), Logprob: half}}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := &engine.Request{Prompt: &engine.Prompt{Text: tt.text}}
			got, err := load(t, `[{pieces: [a]}]`).Score(t.Context(), chat.Job{Request: req, Logprobs: new(1)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestRawPrompt(t *testing.T) {
	m := load(t, `[{when: {contains: weather}, pieces: [rain], prompt_tokens: 7}, {when: {contains: "2"}, pieces: [b]}]`)
	for _, tt := range []struct {
		name, prompt string
		want         string // empty: no reply fits
	}{
		{"its text", "The weather is", "rain"},
		{"the second", "1 + 1 = 2", "b"},
		{"nothing fits", "one", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := &engine.Request{Model: "m", Prompt: &engine.Prompt{Text: tt.prompt, Suffix: "weather"}}
			tokens, _, err := record(m.Decode(t.Context(), chat.Job{Request: req, MaxTokens: 9}))
			if tt.want == "" {
				if coded := engine.AsError(err); coded == nil || coded.Place.Field != engine.FieldPrompt {
					t.Errorf("%q, error %v, want one at %s", tokens, err, engine.FieldPrompt)
				}
				return
			}
			if got := strings.Join(tokens, ""); got != tt.want || err != nil {
				t.Errorf("played %q, error %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestFillsGaps(t *testing.T) {
	models, err := Load(strings.NewReader("models: {a: {fim: true, replies: [{pieces: []}]}, b: {replies: [{pieces: []}]}}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := models[0].Info().FIM; got.Prefix == "" || got.Suffix == "" || got.Middle == "" {
		t.Errorf("FIM of a: %+v", got)
	}
	if got := models[1].Info().FIM; got != (prompt.FIM{}) {
		t.Errorf("FIM of b: %+v", got)
	}
}
