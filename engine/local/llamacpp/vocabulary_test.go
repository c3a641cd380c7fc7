package llamacpp

import (
	"slices"
	"testing"
)

func markersVocabulary() *vocabulary {
	v := &vocabulary{bos: -1, eos: 0}
	v.add([]byte("<end>"), kindControl|kindEndOfTurn)
	v.add([]byte("<tool>"), kindControl)
	v.add([]byte("<think>"), kindUser)
	v.add([]byte("\n\n"), kindUser)
	v.add([]byte("a"), 0)
	v.add([]byte("«x»"), kindControl)
	return v
}

func TestOutput(t *testing.T) {
	v := markersVocabulary()
	markers := v.markerSet([]string{"<tool>", "unknown"})
	for token, want := range []string{"", "<tool>", "<think>", "\n\n", "a", ""} {
		if got := string(v.output(int32(token), markers)); got != want {
			t.Errorf("token %q adds %q, want %q", v.spelling(int32(token)), got, want)
		}
	}
	for spelling := range v.control {
		if !slices.Contains([]string{"<end>", "<tool>", "<think>", "«x»"}, spelling) {
			t.Errorf("%q is a control spelling", spelling)
		}
	}
}
