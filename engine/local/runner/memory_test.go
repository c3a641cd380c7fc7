//go:build !race

package runner

import (
	"runtime"
	"testing"

	"github.com/diglot/diglot/engine"
)

// allocated is how many bytes f allocates, freed ones included.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestFrameWeight: a decoded frame takes no more than was reserved for it, and a
// truncated one nothing.
func TestFrameWeight(t *testing.T) {
	const n = 100_000
	models, tokens, tops := make([]engine.Model, n), make([]engine.TokenLogprob, n), make([]engine.TokenLogprob, n/2)
	names := make([]string, n)
	for i := range n {
		models[i].Name, models[i].Owner, names[i], tokens[i].Token = "ab", "ab", "ab", []byte{1}
		tops[i/2].Top = tokens[:1]
	}
	for _, tt := range []struct {
		name string
		m    message
	}{
		{"models without a name", modelList{make([]engine.Model, n)}},
		{"models", modelList{models}},
		{"places", engine.Start{Unenforced: make([]engine.Place, n)}},
		{"empty names", engine.Start{Ignored: make([]string, n)}},
		{"names", engine.Start{Ignored: names}},
		{"empty tokens", engine.TextDelta{Logprobs: make([]engine.TokenLogprob, n)}},
		{"tokens", engine.TextDelta{Logprobs: tokens}},
		{"alternatives", engine.TextDelta{Logprobs: tops}},
	} {
		frame, err := appendFrame(nil, tt.m)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		frame = frame[frameHeader:]
		if got, most := allocated(func() { _, err = parse(frame) }), int64(len(frame)*(frameWeight-1)); err != nil || got > most {
			t.Errorf("%s: a frame of %d bytes takes %d, want %d or less; error %v", tt.name, len(frame), got, most, err)
		}
		if got, most := allocated(func() { _, err = parse(frame[:10]) }), int64(4096); err == nil || got > most {
			t.Errorf("%s: the beginning of a frame takes %d bytes, want %d or less; error %v", tt.name, got, most, err)
		}
	}
}

// TestLiesTakeNoMemory: announced sizes are not allocated.
func TestLiesTakeNoMemory(t *testing.T) {
	e, _ := liars(t, 0)
	pid(t, e)
	for _, name := range []string{"a choice beyond all", "a frame of a gibibyte", "a prompt without end", "bytes without end", "a list that is longer than its frame"} {
		req := order("m", name)
		if got := allocated(func() { _, _ = engine.Collect(e.Generate(t.Context(), req)) }); got > 4<<20 {
			t.Errorf("%s: %d bytes", name, got)
		}
		pid(t, e)
	}
	texts := &engine.EmbeddingRequest{Model: "m", Inputs: []engine.EmbeddingInput{{Text: "50 million empty vectors"}}}
	if got := allocated(func() { _, _ = e.Embed(t.Context(), texts) }); got > 4<<20 {
		t.Errorf("50 million empty vectors: %d bytes", got)
	}
}
