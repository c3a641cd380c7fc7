package runner

import (
	"bytes"
	"encoding/gob"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// TestSamplingOverWire: zero and absent values are told apart in every field.
func TestSamplingOverWire(t *testing.T) {
	zero, none, seed, penalty, all, half := 0.0, 0, int64(0), 1.1, -1, 0.5
	for _, tt := range []struct {
		name     string
		sampling engine.Sampling
	}{
		{"nothing", engine.Sampling{}},
		{"zeros", engine.Sampling{Temperature: &zero, TopP: &zero, TopK: &none, MinP: &zero, FrequencyPenalty: &zero, PresencePenalty: &zero,
			RepeatPenalty: &zero, RepeatLastN: &none, TypicalP: &zero, Seed: &seed}},
		{"values", engine.Sampling{RepeatPenalty: &penalty, RepeatLastN: &all, TypicalP: &half, LogitBias: map[int]float64{3: 1}}},
	} {
		var wire bytes.Buffer
		want := &engine.Request{Model: "m", Sampling: tt.sampling}
		if err := gob.NewEncoder(&wire).Encode(toWire(want)); err != nil {
			t.Fatal(err)
		}
		var got wireRequest
		if err := gob.NewDecoder(&wire).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.request()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
