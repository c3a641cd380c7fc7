package contract

import (
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/diglot/diglot/openapi/conformance"
)

// slow are the scenarios with bodies of megabytes, which read no more of a reply than others.
var slow = regexp.MustCompile(`/(field/.*|body-too-large|body-nested-deeply|context/.*|too-long-input|leaving/.*)$`)

// TestOddReplies runs the kit against servers whose replies have the right status and nothing
// of what a scenario looks for. It must say so, and neither end nor take the memory.
func TestOddReplies(t *testing.T) {
	lists := func(names ...string) func(*reply) {
		return func(r *reply) {
			r.object(func(o map[string]any) {
				for _, name := range names {
					o[name] = []any{}
				}
			})
			r.events(func(e map[string]any) bool {
				for _, name := range names {
					e[name] = []any{map[string]any{}}
				}
				return true
			})
		}
	}
	whole := func(text string) func(*reply) {
		return func(r *reply) {
			if r.status == http.StatusOK {
				r.body = []byte(text)
			}
		}
	}
	for _, tt := range []struct {
		name string
		put  func(*reply)
	}{
		{"no text, and empty vectors", func(r *reply) {
			r.object(func(o map[string]any) {
				child(o, "choices", 0, "message")["content"] = `{"text":""}`
				child(o, "data", 0)["embedding"] = []any{}
			})
		}},
		{"a stream without events", func(r *reply) { r.frames(func([]string) []string { return nil }) }},
		{"lists for texts and numbers", lists("model", "created", "object", "data")},
		{"empty lists", lists("choices", "output", "content")},
		{"a call with a vast index", inEvents(func(e map[string]any) {
			child(e, "choices", 0)["delta"] = map[string]any{"tool_calls": []any{map[string]any{"index": 2_000_000_000}}}
		})},
		{"null", whole("null")},
		{"an empty list", whole("[]")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report := judged(t, tt.put, func(name string) bool { return !slow.MatchString(name) })
			for _, r := range report.Results {
				for _, f := range r.Failures {
					if f.Stack != "" {
						t.Errorf("%s: %s\n%s", r.Name, f.Message, f.Stack)
					}
				}
			}
			if report.Count(conformance.Fail) == 0 {
				t.Error("nothing fails")
			}
		})
	}
}

// judged runs the chosen scenarios against a mock server whose replies put changes.
func judged(t *testing.T, put func(*reply), chosen func(name string) bool) conformance.Report {
	t.Helper()
	target := serve(t, proxy(mockServer(t), put))
	all, err := scenarios(target)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(s conformance.Scenario) bool { return !chosen(s.Name) })
	return conformance.Run(t.Context(), target, all, conformance.Options{Parallel: 4})
}
