package runner

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
)

// TestParts: the parts of an event are small, add up to it, and their tokens add up to
// their text.
func TestParts(t *testing.T) {
	token := func(text string, logprob float64) engine.TokenLogprob {
		return engine.TokenLogprob{Token: []byte(text), Logprob: logprob}
	}
	halves := func(n int) (all []engine.TokenLogprob) {
		for range n {
			all = append(all, token("\xc3", -1), token("\xa4", -2))
		}
		return all
	}
	for _, tt := range []struct {
		name   string
		event  engine.TextDelta
		parts  int  // at least
		paired bool // the tokens of each are its text
	}{
		{"little", engine.TextDelta{Text: "a", Logprobs: []engine.TokenLogprob{token("a", -1)}}, 1, true},
		{"nothing", engine.TextDelta{}, 1, true},
		{"text alone", engine.TextDelta{Text: strings.Repeat("ä", 3<<20)}, 3 << 20 / maxTextPart, false},
		{"characters of two tokens", engine.TextDelta{Text: strings.Repeat("ä", 100_000), Logprobs: halves(100_000)}, 10, true},
		{"one token", engine.TextDelta{Text: strings.Repeat("ä", 3<<20), Logprobs: []engine.TokenLogprob{token(strings.Repeat("ä", 3<<20), math.NaN())}}, 20, true},
		{"tokens that are not the text", engine.TextDelta{Text: strings.Repeat("b", 1<<20), Logprobs: halves(100_000)}, 10, false},
	} {
		var text, spelled []byte
		parts := 0
		for e := range splitDelta(tt.event) {
			frame, err := appendFrame(nil, e)
			if err != nil || len(frame) > 3*maxTextPart {
				t.Fatalf("%s: part %d has %d bytes, error %v", tt.name, parts, len(frame), err)
			}
			if !utf8.ValidString(e.Text) || e.Text == "" && tt.event.Text != "" {
				t.Fatalf("%s: part %d is %q", tt.name, parts, e.Text)
			}
			own := spelling(e.Logprobs)
			text, spelled, parts = append(text, e.Text...), append(spelled, own...), parts+1
			if own != e.Text && tt.paired {
				t.Errorf("%s: the tokens of part %d are not its text", tt.name, parts)
			}
		}
		if string(text) != tt.event.Text || string(spelled) != spelling(tt.event.Logprobs) || parts < tt.parts {
			t.Errorf("%s: %d parts with %d of %d bytes of text", tt.name, parts, len(text), len(tt.event.Text))
		}
	}
}

func spelling(tokens []engine.TokenLogprob) string {
	var b strings.Builder
	for _, t := range tokens {
		b.Write(t.Token)
	}
	return b.String()
}
