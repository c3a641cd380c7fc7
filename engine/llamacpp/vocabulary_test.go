package llamacpp

import (
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/chat"
	"github.com/google/go-cmp/cmp"
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

func TestPieces(t *testing.T) {
	v := markersVocabulary()
	for _, tt := range []struct {
		name  string
		spans []chat.Span
		want  []string
	}{
		{"nothing", nil, []string{""}},
		{"text alone", []chat.Span{{Text: "<end>a"}}, []string{"<end>a"}},
		{"plain", []chat.Span{{Text: "a"}, {Text: "<end>", Plain: true}, {Text: "b<end>"}}, []string{"a<", "end>b<end>"}},
		{"plain at the end", []chat.Span{{Text: "<tool>", Plain: true}}, []string{"<", "tool>"}},
		{"two plain", []chat.Span{{Text: "<end>", Plain: true}, {Text: "<end>", Plain: true}}, []string{"<", "end><", "end>"}},
		{"plain within plain", []chat.Span{{Text: "<tool<end>", Plain: true}}, []string{"<tool<", "end>"}},
		{"first character of two bytes", []chat.Span{{Text: "«x»", Plain: true}}, []string{"«", "x»"}},
		{"one character of a spelling", []chat.Span{{Text: "a<"}, {Text: "e", Plain: true}, {Text: "nd>"}}, []string{"a<e", "nd>"}},
		{"plain that is nothing", []chat.Span{{Text: "b", Plain: true}, {Text: "c"}}, []string{"b", "c"}},
	} {
		if diff := cmp.Diff(tt.want, v.pieces(tt.spans)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}

// FuzzPieces: nothing is lost, and no control token is left in what came
// from plain spans.
func FuzzPieces(f *testing.F) {
	f.Add("a<end>b")
	f.Add("<<end>end>")
	f.Add("<tool<tool>>«x»")
	f.Fuzz(func(t *testing.T, text string) {
		v := markersVocabulary()
		got := v.pieces([]chat.Span{{Text: text, Plain: true}})
		if joined := strings.Join(got, ""); joined != text {
			t.Errorf("%q became %q", text, joined)
		}
		for _, piece := range got {
			for spelling := range v.control {
				if strings.Contains(piece, spelling) {
					t.Errorf("%q leaves %q in %q", text, spelling, piece)
				}
			}
		}
	})
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
