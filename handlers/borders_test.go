package handlers_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestBorders checks that the text of an answer, and where a stop string ends it, do not
// depend on how tokens split it into bytes, in every operation, streamed or not.
func TestBorders(t *testing.T) {
	cases := borderCases()
	e := playing(t, borderScript(cases))
	for _, g := range handlerstest.Generations() {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			h := newHandler(t, handlers.Config{Engine: e})
			for i, c := range cases {
				ask := handlerstest.Ask{Text: caseName(i)}
				want, stop := c.text, ""
				if g.Stops {
					ask.Stop = c.stops
					want, stop = stopped(c.text, c.stops)
				}
				if !g.NamesStop {
					stop = ""
				}
				whole, folded, stream := answers(t, h, g, ask)
				for how, got := range map[string][]handlerstest.Answer{"whole": whole, "streamed": folded} {
					if len(got) != 1 || got[0].Text() != want || got[0].Stop != stop {
						t.Fatalf("%s: %q, stops %q, tokens %q\ngot  %+v\nwant %q, ended by %q\n%s", how, c.text, c.stops, c.tokens, got, want, stop, stream)
					}
				}
				if whole[0].Finish != folded[0].Finish || whole[0].Stop != folded[0].Stop {
					t.Fatalf("%q: ended by %q, streamed by %q", c.text, whole[0], folded[0])
				}
			}
		})
	}
}

// borderCase is a text, the strings that end it, and its bytes as tokens.
type borderCase struct {
	text   string
	stops  []string
	tokens []string
}

// stopped returns the text before the stop string that is complete first, the longest of
// several, as if each byte came alone.
func stopped(text string, stops []string) (before, stop string) {
	for end := range len(text) + 1 {
		for _, s := range stops {
			if strings.HasSuffix(text[:end], s) && len(s) > len(stop) {
				stop = s
			}
		}
		if stop != "" {
			return text[:end-len(stop)], stop
		}
	}
	return text, ""
}

var (
	borderPieces = []string{"a", "b", "ab", "E", "EN", "END", "é", "日本", "👩‍🚀", "e\u0301", "\n", " ", "<", "\u00a0"}
	borderStops  = [][]string{
		nil, {"END"}, {"ENDEND", "ND"}, {"aab", "ab"}, {"é日", "日本E"}, {"👩‍🚀", "\u200d"}, {"\n\n", "b \n", "END "}, {"本a本", "本", "aa", "bb"}, {"e"},
	}
)

// borderCases splits random texts before every byte, into single bytes, and at random.
func borderCases() []borderCase {
	random := rand.New(rand.NewPCG(4, 4))
	var cases []borderCase
	for range 40 {
		text := ""
		for range 1 + random.IntN(8) {
			text += borderPieces[random.IntN(len(borderPieces))]
		}
		stops := borderStops[random.IntN(len(borderStops))]
		add := func(tokens ...string) { cases = append(cases, borderCase{text, stops, tokens}) }
		for i := range len(text) {
			add(text[:i], text[i:])
		}
		add(strings.Split(text, "")...) // characters
		add(singleBytes(text)...)
		for range 5 {
			add(randomTokens(random, text)...)
		}
	}
	return cases
}

func singleBytes(text string) (tokens []string) {
	for i := range len(text) {
		tokens = append(tokens, text[i:i+1])
	}
	return tokens
}

func randomTokens(random *rand.Rand, text string) (tokens []string) {
	for text != "" {
		n := random.IntN(min(len(text), 5) + 1) // empty tokens too
		tokens = append(tokens, text[:n])
		text = text[n:]
	}
	return tokens
}

func caseName(i int) string { return fmt.Sprintf("case %d;", i) }

// borderScript is a model with a reply for each case.
func borderScript(cases []borderCase) string {
	var b strings.Builder
	b.WriteString("models:\n  m:\n    replies:\n")
	for i, c := range cases {
		fmt.Fprintf(&b, "      - {when: {contains: %q}, pieces: [", caseName(i))
		for _, token := range c.tokens {
			fmt.Fprintf(&b, "{base64: %q}, ", base64.StdEncoding.EncodeToString([]byte(token)))
		}
		b.WriteString("]}\n")
	}
	return b.String()
}
