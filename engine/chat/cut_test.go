package chat

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format/formattest"
)

// TestCutAnywhere holds that an answer which ends anywhere, by whatever ends it,
// is told as the server allows a process to tell it: what is not would end the
// process.
func TestCutAnywhere(t *testing.T) {
	outputs := formattest.Calls()
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		whole := outputs[name]
		for _, lead := range []string{"", "I look. ", "<think>hm</think>"} {
			text := lead + whole + " \xf0\x9f"
			for at := range len(text) + 1 {
				for _, end := range []End{EndOfTurn, EndLength} {
					m := &fakeModel{end: end}
					for i := 0; i < at; i += 3 {
						m.pieces = append(m.pieces, text[i:min(i+3, at)])
					}
					req := testRequest()
					req.Tools = formattest.Tools()
					check, begun := engine.NewSequence(req), true
					for event, err := range testEngine(name, "", m).Generate(t.Context(), req) {
						if err != nil && strings.Contains(err.Error(), "forbidden by the constraint") {
							begun = false // no model comes so far
							break
						}
						if err == nil {
							err = check.Add(event)
						}
						if err != nil {
							t.Fatalf("%s, end %v, %q: %v", name, end, text[:at], err)
						}
					}
					if err := check.End(); begun && err != nil {
						t.Errorf("%s, end %v, %q: %v", name, end, text[:at], err)
					}
				}
			}
		}
	}
}
