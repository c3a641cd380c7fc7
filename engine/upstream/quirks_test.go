package upstream

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

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
		{"a level without thinking", nil, openAI, func(r *engine.Request) { r.Reasoning = engine.Reasoning{Mode: engine.ReasoningOff, Effort: "low"} },
			[]string{"chat_template_kwargs", "reasoning_effort", "return_progress", "stream", "stream_options"}, []string{"reasoning_effort"}},
		{"turns that may be left out", nil, openAI, func(r *engine.Request) { r.Truncate = true },
			[]string{"return_progress", "stream", "stream_options"}, []string{"truncation"}},
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
	q := quirks{now: time.Now}
	refused := parseRefusal([]byte(`{"error":{"message":"Unknown parameter: 'top_k'."}}`), "")
	refused.status = 400
	lessons := []*fallback{newFallback(&q), newFallback(&q)}
	for i, l := range lessons {
		if !l.read(refused, []string{"top_k", "min_p"}) || l.supports("top_k") || !q.supports("top_k") {
			t.Errorf("request %d is not tried again, or all are before it is", i)
		}
	}
	lessons[0].confirm()
	if q.supports("top_k") || !q.supports("min_p") {
		t.Errorf("what the server lacks is %v", q.unsupported)
	}
	for name, sent := range map[string][]string{"a request without it": {"min_p"}, "a request that did without it": {"top_k", "min_p"}} {
		if lessons[1].read(refused, sent) {
			t.Errorf("%s is tried again", name)
		}
	}
}

// TestRemembered tries again after a while what the server did not know.
func TestRemembered(t *testing.T) {
	now := time.Now()
	q := quirks{now: func() time.Time { return now }}
	q.markUnsupported("top_k")
	q.exclude("min_p")
	now = now.Add(quirkLifetime)
	if q.supports("top_k") || q.supports("min_p") {
		t.Errorf("after %v: %v", quirkLifetime, q.unsupported)
	}
	now = now.Add(time.Second)
	if !q.supports("top_k") || q.supports("min_p") {
		t.Errorf("a second later: %v", q.unsupported)
	}
}

// TestDenials reads in what words servers say that they do not know a member.
func TestDenials(t *testing.T) {
	message := func(text string) string {
		b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": text}})
		return string(b)
	}
	for _, tt := range []struct {
		body   string
		member string
		want   bool
	}{
		{message("Unrecognized request argument supplied: top_k"), "top_k", true},
		{message("Unrecognized request arguments supplied: min_p, top_k"), "top_k", true},
		{message("Unknown parameter: 'stream_options.continuous_usage_stats'."), usageStats, true},
		{message("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."), "max_tokens", true},
		{message("Invalid JSON payload received. Unknown name \"top_k\": Cannot find field."), "top_k", true},
		{message("Invalid JSON payload received. Unknown name \"max_tokens\" at 'tools[0].function.parameters': Cannot find field."), "max_tokens", false},
		{message("property 'top_k' is unsupported"), "top_k", true},
		{message("Failed to deserialize the JSON body into the target type: unknown field `top_k`, expected one of `model`, `messages` at line 1 column 7"), "top_k", true},
		{message("unknown field `top_k`, expected `a client's words`"), "top_k", false},
		{message("Additional properties are not allowed ('min_p', 'top_k' were unexpected)"), "top_k", true},
		{message("stream_options: Extra inputs are not permitted"), streamOptions, true},
		{message("Validation error at #/stream_options: Extra inputs are not permitted"), streamOptions, true},
		{message("Extra inputs are not permitted, field: 'stream_options', value: {'include_usage': True}"), streamOptions, true},
		{message("Extra inputs are not permitted, field: 'stream_options', value: {'include_usage': 'stream'}"), streamOptions, false},
		{`{"detail":"Extra parameters ['stream_options'] are not allowed when extra-parameters is not set or set to be 'error'."}`, streamOptions, true},
		{message("[{'type': 'extra_forbidden', 'loc': ('body', 'top_k'), 'msg': 'Extra inputs are not permitted', 'input': 3}]"), "top_k", true},
		{message("[{'type': 'extra_forbidden', 'loc': ('body', 'top_k'), 'msg': 'Extra inputs are not permitted', 'input': 'words'}]"), "top_k", false},
		{`{"detail":[{"type":"extra_forbidden","loc":["body","top_k"],"msg":"Extra inputs are not permitted","input":"words"}]}`, "top_k", true},
		{`{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted"}]}`, reasoningContent, true},
		{`{"detail":[{"type":"extra_forbidden","loc":["body","tools",0,"function","max_tokens"],"msg":"Extra inputs are not permitted"}]}`, "max_tokens", false},
		{`{"detail":[{"type":"extra_forbidden","loc":["body","messages",0,"max_tokens"],"msg":"Extra inputs are not permitted"}]}`, "max_tokens", false},
		{`{"detail":[{"type":"value_error","loc":["body","top_k"],"msg":"a top_k of -3 is unknown","input":-3}]}`, "top_k", false},
		{`{"error":{"message":"No.","code":"unknown_parameter","param":"top_k"}}`, "top_k", true},
		{`{"error":{"message":"No.","code":"unsupported_value","param":"top_k"}}`, "top_k", false},
		{`{"error":{"message":"No.","code":"unsupported_value","param":"reasoning_effort"}}`, "reasoning_effort=none", true},
		{message("Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'low', 'medium', and 'high'."), "reasoning_effort=none", true},
		{message("Unsupported value: 'max_tokens' does not support '7' with this model."), "max_tokens", false},
		{message("Model \"m\" does not support matryoshka representation, changing output dimensions will lead to poor results."), "dimensions", true},
		{message("top_k must not be unknown"), "top_k", false},
		{message("Unrecognized schema: {\"description\":\"Unrecognized request argument supplied: top_k\"}"), "top_k", false},
		{message("Unrecognized schema: \nUnrecognized request argument supplied: top_k"), "top_k", false},
	} {
		if got := parseRefusal([]byte(tt.body), "").rejects(tt.member); got != tt.want {
			t.Errorf("%s denies %s: %v", tt.body, tt.member, got)
		}
	}
}

// TestWordsOfClients has requests refused for what one client has sent, in words that
// hold the names of members. Another client's requests stay as they are.
func TestWordsOfClients(t *testing.T) {
	const words = "frobnicate: unknown parameter max_tokens, stream_options, return_progress, top_k and reasoning_effort"
	plain := func() *engine.Request {
		req := ask("u")
		req.MaxTokens, req.Sampling.TopK = new(9), new(3)
		req.Reasoning = engine.Reasoning{Mode: engine.ReasoningOn, Effort: "low"}
		return req
	}
	quoted, _ := json.Marshal(words)
	inTool := func(r *engine.Request) {
		r.Tools = []engine.Tool{{Name: "f", Parameters: json.RawMessage(`{"type":"object","description":` + string(quoted) + `}`)}}
	}
	for _, tt := range []struct {
		name   string
		change func(*engine.Request)
		when   string // in a body that is refused
		tries  int    // that are refused; 0: all
		body   string
	}{
		{"a schema", inTool, "frobnicate", 0, `{"error":{"code":400,"message":"JSON schema conversion failed:\nUnrecognized schema: {\"description\": ` + words + `}","type":"invalid_request_error"}}`},
		{"a schema, and a server that changes its mind", inTool, "frobnicate", 1, `{"error":{"message":"Unrecognized schema: ` + words + `"}}`},
		{"a text as the server repeats it", func(r *engine.Request) { r.Messages = ask(words).Messages }, "frobnicate", 1,
			`{"detail":[{"type":"string_type","loc":["body","messages",0,"content"],"msg":"Input should be a valid string","input":` + string(quoted) + `}]}`},
		{"a member of a schema", func(r *engine.Request) {
			r.Tools = []engine.Tool{{Name: "frobnicate", Parameters: json.RawMessage(`{"max_tokens":1}`)}}
		}, "frobnicate", 0, "{\"error\":{\"message\":\"unknown field `max_tokens`, expected one of `type`\"}}"},
		{"a place in a schema", func(r *engine.Request) {
			r.Tools = []engine.Tool{{Name: "frobnicate", Parameters: json.RawMessage(`{"max_tokens":1}`)}}
		}, "frobnicate", 1, `{"detail":[{"type":"extra_forbidden","loc":["body","tools",0,"function","parameters","max_tokens"],"msg":"Extra inputs are not permitted"}]}`},
		{"a value", func(r *engine.Request) { r.Sampling.TopK = new(-5) }, `"top_k":-5`, 0, `{"error":{"message":"top_k = -5 is not supported","param":"top_k"}}`},
		{"a limit", func(r *engine.Request) { r.MaxTokens = new(77777) }, `"max_tokens":77777`, 0,
			`{"error":{"message":"Unsupported value: max_tokens is too large: 77777.","param":"max_tokens","code":"unsupported_value"}}`},
		{"how much to think", func(r *engine.Request) { r.Reasoning.Effort = "high" }, `"reasoning_effort":"high"`, 0,
			`{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'high' with this model.","param":"reasoning_effort","code":"unsupported_value"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused := 0
			e, p := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
				var text strings.Builder
				_ = json.NewEncoder(&text).Encode(readAny(t, r))
				if strings.Contains(text.String(), tt.when) && (tt.tries == 0 || refused < tt.tries) {
					refused++
					status(w, 400, tt.body)
					return
				}
				answerA(w)
			})
			body := func() string {
				if _, err := gather(t.Context(), e, plain()); err != nil {
					t.Fatal(err)
				}
				return p.last().body
			}
			before := body()
			req := plain()
			tt.change(req)
			_, _ = gather(t.Context(), e, req)
			if refused == 0 {
				t.Fatal("nothing was refused")
			}
			if diff := cmp.Diff(before, body()); diff != "" {
				t.Errorf("the request of another (-before +after):\n%s", diff)
			}
		})
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
	req.Sampling = engine.Sampling{TopK: new(3), RepeatPenalty: new(1.1), MinP: new(0.1), Temperature: new(0.0)}
	req.MaxTokens, req.Truncate, req.Reasoning = new(7), true, engine.Reasoning{Mode: engine.ReasoningOn}
	events, err := gather(t.Context(), e, req)
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Start{
		Unenforced: []engine.Place{{Field: engine.FieldTools, Index: 1, Path: "/properties/a/not"}},
		Ignored:    []string{"top_k", "repeat_penalty", "truncation"},
		Used: engine.Used{Sampling: engine.Sampling{MinP: new(0.1), Temperature: new(0.0)}, MaxTokens: new(7),
			Reasoning: engine.Reasoning{Mode: engine.ReasoningOn, Effort: "medium"}},
	}
	if diff := cmp.Diff(want, events[0]); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
}
