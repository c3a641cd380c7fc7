package format

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// TestRandomBlocks writes answers of random blocks, cuts them at random, and
// reads the same blocks back, whatever their order.
func TestRandomBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"alpha", "beta ß", "a < b", "€", "{x}", "\n\ngamma", "<b>"}
	for range 500 {
		var output strings.Builder
		var want []engine.Block
		last := engine.BlockToolCall
		for range 1 + random.IntN(6) {
			s := "x" + words[random.IntN(len(words))] + words[random.IntN(len(words))]
			switch kind := []engine.BlockKind{engine.BlockText, engine.BlockReasoning, engine.BlockToolCall}[random.IntN(3)]; {
			case kind == engine.BlockText && last != engine.BlockText:
				output.WriteString(s)
				want, last = append(want, text(s)), kind
			case kind == engine.BlockReasoning && last != engine.BlockReasoning:
				output.WriteString("<think>\n" + s + "\n</think>\n\n")
				want, last = append(want, reasoning(s)), kind
			case kind == engine.BlockToolCall:
				arguments := `{"city": ` + quote(s) + `}`
				output.WriteString("<tool_call>\n{\"name\": \"get_weather\", \"arguments\": " + arguments + "}\n</tool_call>\n")
				want, last = append(want, call("get_weather", arguments)), kind
			}
		}
		pieces := cutRandomly(random, output.String())
		if diff := cmp.Diff(want, scan(t, hermes, testTools(t), "", pieces...)); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", pieces, diff)
		}
	}
}

// BenchmarkScanner is the cost of one token from the raw model to events.
func BenchmarkScanner(b *testing.B) {
	for _, name := range []string{"plain", "hermes", "harmony"} {
		b.Run(name, func(b *testing.B) {
			format, _ := ByName(name)
			opening := ""
			if format.channels {
				opening = "<|start|>assistant<|channel|>final<|message|>"
			}
			w := &writer{holdSpace: true, stops: []string{"STOP", "\n\nUser:"}, newID: func() string { return "id" }}
			s := newScanner(format, Tools{"now": {}}, opening, w)
			piece := engine.TokenLogprob{Token: []byte(" word")}
			b.ReportAllocs()
			for b.Loop() {
				w.tokens.add(piece)
				s.write(piece.Token)
				w.take()
			}
		})
	}
}
