package decode

import (
	"slices"
	"testing"
)

func markersVocabulary() *Vocabulary {
	v := &Vocabulary{BOS: -1, EOS: 0}
	v.Add([]byte("<end>"), KindControl|KindEndOfTurn)
	v.Add([]byte("<tool>"), KindControl)
	v.Add([]byte("<think>"), KindUser)
	v.Add([]byte("\n\n"), KindUser)
	v.Add([]byte("a"), 0)
	v.Add([]byte("«x»"), KindControl)
	return v
}

func TestOutput(t *testing.T) {
	v := markersVocabulary()
	markers := v.markerSet([]string{"<tool>", "unknown"})
	for token, want := range []string{"", "<tool>", "<think>", "\n\n", "a", ""} {
		if got := string(v.output(int32(token), markers)); got != want {
			t.Errorf("token %q adds %q, want %q", v.Bytes(int32(token)), got, want)
		}
	}
	for text := range v.Control {
		if !slices.Contains([]string{"<end>", "<tool>", "<think>", "«x»"}, text) {
			t.Errorf("%q is a control token", text)
		}
	}
}
