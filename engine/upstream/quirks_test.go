package upstream

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// TestUnknownMembers has a server that refuses some members, one at a time.
//
// long: most of it is the table.
func TestUnknownMembers(t *testing.T) {
	openAI := func(name string) string {
		return `{"error":{"message":"Unrecognized request argument supplied: ` + name + `","type":"invalid_request_error","param":null,"code":null}}`
	}
	pydantic := func(name string) string {
		return `{"detail":[{"type":"extra_forbidden","loc":["body","` + name + `"],"msg":"Extra inputs are not permitted","input":3}]}`
	}
	gemini := func(name string) string {
		return `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"` + name + `\": Cannot find field.","status":"INVALID_ARGUMENT"}}]`
	}
	newer := func(string) string {
		return `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`
	}
	tests := []struct {
		name    string
		unknown []string
		refuse  func(name string) string
		change  func(*engine.Request)
		has     []string // members of the request that is accepted, of those that may be left out
		ignored []string
	}{
		{"all are known", nil, nil, func(r *engine.Request) { r.Sampling.TopK = new(3) },
			[]string{"return_progress", "stream", "stream_options", "top_k"}, nil},
		{"what only this package wants", []string{"return_progress", "continuous_usage_stats"}, openAI, func(*engine.Request) {},
			[]string{"stream", "stream_options"}, nil},
		{"a member in a member", []string{"continuous_usage_stats"}, func(string) string {
			return `{"error":{"message":"Unknown parameter: 'stream_options.continuous_usage_stats'.","code":"unknown_parameter","param":"stream_options.continuous_usage_stats"}}`
		}, func(*engine.Request) {}, []string{"return_progress", "stream", "stream_options"}, nil},
		{"a member in a member, by steps", []string{"continuous_usage_stats"}, func(string) string {
			return `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","continuous_usage_stats"],"msg":"Extra inputs are not permitted"}]}`
		}, func(*engine.Request) {}, []string{"return_progress", "stream", "stream_options"}, nil},
		{"the outer member", []string{"stream_options"}, openAI, func(*engine.Request) {}, []string{"return_progress", "stream"}, nil},
		{"what the client wants", []string{"top_k", "min_p"}, pydantic, func(r *engine.Request) {
			r.Sampling.TopK, r.Sampling.MinP = new(3), new(0.1)
		}, []string{"return_progress", "stream", "stream_options"}, []string{"top_k", "min_p"}},
		{"one of two names", []string{"repetition_penalty"}, gemini, func(r *engine.Request) { r.Sampling.RepeatPenalty = new(1.1) },
			[]string{"repeat_penalty", "return_progress", "stream", "stream_options"}, nil},
		{"both names", []string{"repetition_penalty", "repeat_penalty"}, gemini, func(r *engine.Request) { r.Sampling.RepeatPenalty = new(1.1) },
			[]string{"return_progress", "stream", "stream_options"}, []string{"repeat_penalty"}},
		{"the older name of a limit", []string{"max_tokens"}, newer, func(r *engine.Request) { r.MaxTokens = new(9) },
			[]string{"max_completion_tokens", "return_progress", "stream", "stream_options"}, nil},
		{"no thinking where there is none", []string{"reasoning_effort", "chat_template_kwargs"}, openAI, func(r *engine.Request) { r.Reasoning.Mode = engine.ReasoningOff },
			[]string{"return_progress", "stream", "stream_options"}, nil},
		{"thinking where there is none", []string{"reasoning_effort", "chat_template_kwargs"}, openAI, func(r *engine.Request) { r.Reasoning.Mode = engine.ReasoningOn },
			[]string{"return_progress", "stream", "stream_options"}, []string{"reasoning_effort"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, p := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
				var text strings.Builder
				_ = json.NewEncoder(&text).Encode(readAny(t, r))
				for _, name := range tt.unknown {
					if strings.Contains(text.String(), `"`+name+`"`) {
						status(w, 400, tt.refuse(name))
						return
					}
				}
				answerA(w)
			})
			for range 2 { // what was learned is not tried again
				before := len(p.all())
				req := ask("u")
				tt.change(req)
				events, err := gather(t.Context(), e, req)
				if err != nil || show(events) != saidA {
					t.Fatalf("%s, %v", show(events), err)
				}
				start := events[0].(engine.Start)
				if diff := cmp.Diff(tt.ignored, start.Ignored); diff != "" {
					t.Errorf("ignored (-want +got):\n%s", diff)
				}
				if before > 0 && len(p.all()) != before+1 {
					t.Errorf("the second request took %d tries", len(p.all())-before)
				}
			}
			var sent map[string]json.RawMessage
			if err := json.Unmarshal([]byte(p.last().body), &sent); err != nil {
				t.Fatal(err)
			}
			var names []string
			for name := range sent {
				if name != "model" && name != "messages" {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			if diff := cmp.Diff(tt.has, names); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnknownMembersAtOnce has two requests refused that were sent before either
// was: both are worth another try.
func TestUnknownMembersAtOnce(t *testing.T) {
	var q quirks
	refused := parseRefusal([]byte(`{"error":{"message":"Unknown parameter: 'top_k'."}}`), "")
	refused.status = 400
	for i := range 2 {
		if !q.learn(refused, []string{"top_k", "min_p"}) {
			t.Errorf("request %d is not tried again", i)
		}
	}
	if q.takes("top_k") || !q.takes("min_p") {
		t.Errorf("unknown are %v", q.unknown)
	}
	if q.learn(refused, []string{"min_p"}) {
		t.Error("a request without the member is tried again")
	}
}

func readAny(t *testing.T, r *http.Request) (v any) {
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		t.Error(err)
	}
	return v
}

// TestRefusedValues checks that a wrong value of a member is not taken for
// a member that is unknown.
func TestRefusedValues(t *testing.T) {
	for _, message := range []string{"top_k must be at least 0", "unknown stop_top_k", "something else is unknown"} {
		e, p := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
			status(w, 400, `{"error":{"message":"`+message+`"}}`)
		})
		req := ask("u")
		req.Sampling.TopK = new(-1)
		_, err := gather(t.Context(), e, req)
		if got := coded(t, err); got.Code != engine.CodeInvalidArgument || got.Message != message || len(p.all()) != 1 {
			t.Errorf("%s: %v after %d tries", message, err, len(p.all()))
		}
	}
}

// TestIgnoredMembers reads what a diglot says of a request.
func TestIgnoredMembers(t *testing.T) {
	e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Diglot-Ignored", "tools[0].function.parameters.properties.a.not, top_k, return_progress, stream_options.continuous_usage_stats, repetition_penalty, repeat_penalty")
		answerA(w)
	})
	req := ask("u")
	req.Tools = []engine.Tool{{Name: "f"}, {Name: "g"}}
	req.ToolChoice.Names = []string{"g"}
	req.Sampling = engine.Sampling{TopK: new(3), RepeatPenalty: new(1.1)}
	events, err := gather(t.Context(), e, req)
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Start{
		Unenforced: []engine.Place{{Field: engine.FieldTools, Index: 1, Path: "/properties/a/not"}},
		Ignored:    []string{"top_k", "repeat_penalty"},
	}
	if diff := cmp.Diff(want, events[0]); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
}
