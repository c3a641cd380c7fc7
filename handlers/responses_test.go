package handlers_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

const responsesPath = "/v1/responses"

// responseWith is a right body with further members.
func responseWith(members string) []byte { return []byte(`{"model":"m","input":"u"` + members + `}`) }

// TestResponseErrors checks that an error before the first event has its status, streamed
// or not, and a path of this request.
func TestResponseErrors(t *testing.T) {
	at := func(code engine.Code, field engine.Field, path string) *engine.Error {
		return engine.Errorf(code, "No.").At(engine.Place{Field: field, Path: path})
	}
	tests := []struct {
		err         error
		status      int
		code, param string
	}{
		{at(engine.CodeContextLength, engine.FieldMessages, ""), 400, "context_length_exceeded", "input"},
		{at(engine.CodeUnsupported, engine.FieldMessages, ""), 400, "unsupported_value", "instructions"},
		{at(engine.CodeUnsupported, engine.FieldTools, "/not"), 400, "unsupported_value", "tools[0].parameters.not"},
		{at(engine.CodeUnsupported, engine.FieldFormat, "/not"), 400, "unsupported_value", "text.format.schema.not"},
		{at(engine.CodeInvalidArgument, engine.FieldToolChoice, ""), 400, "", "tool_choice"},
		{engine.ModelNotFound("m"), 404, "model_not_found", "model"},
		{engine.Errorf(engine.CodeOverloaded, "No."), 503, "overloaded", ""},
		{engine.Errorf(engine.CodeEngineCrashed, "No."), 502, "engine_crashed", ""},
		{errors.New("secret"), 500, "internal_error", ""},
	}
	e := &handlerstest.Engine{Name: "m"}
	h := newHandler(t, handlers.Config{Engine: e})
	for _, tt := range tests {
		for _, members := range []string{`,"instructions":"i"`, `,"instructions":"i","stream":true`} {
			e.Err = tt.err
			w := post(t, h, responsesPath, responseWith(members))
			if told, in := errorOf(t, w.Body); w.Code != tt.status || in != "openai" || text(told.Code) != tt.code || text(told.Param) != tt.param {
				t.Errorf("%v: status %d, code %q, param %q; want %d, %q, %q", tt.err, w.Code, text(told.Code), text(told.Param), tt.status, tt.code, tt.param)
			}
		}
	}
}

// TestFailedResponses checks the codes of failed responses, by which Codex decides whether
// to retry.
func TestFailedResponses(t *testing.T) {
	e := &handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")[:3]}
	h := newHandler(t, handlers.Config{Engine: e})
	for code, want := range map[engine.Code]string{
		engine.CodeContextLength:   "context_length_exceeded",
		engine.CodeInvalidArgument: "invalid_prompt",
		engine.CodeUnsupported:     "invalid_prompt",
		engine.CodeModelNotFound:   "invalid_prompt",
		engine.CodeOverloaded:      "rate_limit_exceeded",
		engine.CodeEngineCrashed:   "server_error",
		engine.CodeInternal:        "server_error",
		engine.CodeDeadline:        "server_error",
		engine.CodeForbidden:       "server_error", // which no engine tells
	} {
		e.Err = engine.Errorf(code, "No.")
		w := post(t, h, responsesPath, responseWith(`,"stream":true`))
		if failed := `"error":{"code":"` + want + `","message":"No."}`; w.Code != 200 || !strings.Contains(w.Body.String(), failed) {
			t.Errorf("%s: status %d, no %s in\n%s", code, w.Code, failed, w.Body)
		}
	}
}

// TestResponseRefusals checks the errors of unsupported requests.
func TestResponseRefusals(t *testing.T) {
	tests := []struct{ name, members, param, message string }{
		{"a stored response", `,"previous_response_id":"resp_1"`, "previous_response_id", "Nothing is stored"},
		{"a stored conversation", `,"conversation":"conv_1"`, "conversation", "Nothing is stored"},
		{"a stored conversation as an object", `,"conversation":{"id":"conv_1"}`, "conversation", "Nothing is stored"},
		{"a stored prompt", `,"prompt":{"id":"p"}`, "prompt", "Nothing is stored"},
		{"an answer in the background", `,"background":true`, "background", "not stored"},
		{"a tool of the service by choice", `,"tool_choice":{"type":"web_search_preview"}`, "tool_choice", "Only functions"},
		{"a custom tool by choice", `,"tool_choice":{"type":"custom","name":"x"}`, "tool_choice", "Only functions"},
		{"more alternatives than there are", `,"top_logprobs":21`, "top_logprobs", "between 0 and 20"},
	}
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		h := newHandler(t, handlers.Config{Profile: profile})
		for _, tt := range tests {
			w := post(t, h, responsesPath, responseWith(tt.members))
			if e, _ := errorOf(t, w.Body); w.Code != 400 || text(e.Param) != tt.param || !strings.Contains(e.Message, tt.message) {
				t.Errorf("%s, %s: status %d, %q at %q; want 400, %q at %q", profile, tt.name, w.Code, e.Message, text(e.Param), tt.message, tt.param)
			}
		}
	}
	body := `{"model":"m","input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}]}`
	w := post(t, newHandler(t, handlers.Config{}), responsesPath, []byte(body))
	if e, _ := errorOf(t, w.Body); w.Code != 400 || text(e.Param) != "input[0].content[0]" {
		t.Errorf("a file: status %d, %q at %q", w.Code, e.Message, text(e.Param))
	}
}

// TestResponseIgnored checks that ignored fields are listed, and are errors for a strict
// client.
func TestResponseIgnored(t *testing.T) {
	unenforced := handlerstest.Text("x")
	unenforced[0] = engine.Start{Unenforced: []engine.Place{{Field: engine.FieldTools, Path: "/not"}}}
	elsewhere := handlerstest.Text("x")
	elsewhere[0] = engine.Start{Ignored: []string{"reasoning_effort", "top_k"}}
	tests := []struct {
		name, members string
		events        []engine.Event
		ignored       string
	}{
		{"parameters that the model's server does not know", `,"store":false`, elsewhere, "reasoning.effort, store, top_k"},
		{"nothing", `,"metadata":{"a":"b"},"prompt_cache_key":"k"`, nil, ""},
		{"what agents send", `,"store":false,"client_metadata":{},"include":["reasoning.encrypted_content"],"tools":[{"type":"web_search"},{"type":"namespace","tools":[]},{"type":"web_search"}]`, nil,
			"client_metadata, include[], store, tools[type=namespace], tools[type=web_search]"},
		{"items", `,"input":[{"type":"item_reference","id":"rs_1"},{"role":"user","content":"u"},{"type":"compaction","x":1}]`, nil,
			"input[type=compaction], input[type=item_reference]"},
		{"a schema behind tools of others", `,"tools":[{"type":"web_search"},{"type":"function","name":"f","parameters":{"not":{}}}]`, unenforced, "tools[1].parameters.not, tools[type=web_search]"},
		{"a schema that cannot be enforced", `,"tools":[{"type":"function","name":"f","parameters":{"not":{}}}]`, unenforced, "tools[0].parameters.not"},
	}
	e := &handlerstest.Engine{Name: "m"}
	h := newHandler(t, handlers.Config{Engine: e})
	for _, tt := range tests {
		for _, stream := range []string{"", `,"stream":true`} {
			if e.Events = tt.events; e.Events == nil {
				e.Events = handlerstest.Text("x")
			}
			body := responseWith(tt.members + stream)
			if strings.Contains(tt.members, `"input"`) {
				body = bytes.Replace(body, []byte(`"input":"u",`), nil, 1)
			}
			w := post(t, h, responsesPath, body)
			if got := w.Header().Get("Diglot-Ignored"); w.Code != 200 || got != tt.ignored {
				t.Errorf("%s: status %d, Diglot-Ignored is %q, want %q\n%s", tt.name, w.Code, got, tt.ignored, w.Body)
			}
			want := 200
			if tt.ignored != "" {
				want = 400
			}
			if w := post(t, h, responsesPath, body, "Prefer", "handling=strict"); w.Code != want {
				t.Errorf("%s, strict: status %d, want %d\n%s", tt.name, w.Code, want, w.Body)
			}
		}
	}
}

// TestResponseSilence checks what a client receives while there are no events, and how a
// stream fails.
func TestResponseSilence(t *testing.T) {
	x := handlerstest.Text("x")
	crash := &engine.Error{Code: engine.CodeEngineCrashed, Message: "Gone."}
	const begin, part = "response.created response.in_progress ", "response.output_item.added response.content_part.added "
	const end = "response.output_text.delta response.output_text.done response.content_part.done response.output_item.done response.completed"
	tests := []struct {
		name  string
		steps []step
		want  string
	}{
		{"before the first event", []step{{13 * time.Second, x[0], nil}, {0, x[1], nil}, {0, x[2], nil}, {0, x[3], nil}, {0, x[4], nil}, {0, x[5], nil}}, "# # " + begin + part + end},
		{"in mid-text", []step{{0, x[0], nil}, {0, x[1], nil}, {9 * time.Second, x[2], nil}, {0, x[3], nil}, {0, x[4], nil}, {0, x[5], nil}}, begin + part + "# # " + end},
		{"an error within four seconds has a status", []step{{0, x[0], nil}, {3 * time.Second, nil, crash}}, "502"},
		{"a later one fails the response", []step{{9 * time.Second, nil, crash}}, "# " + begin + "response.failed error"},
		{"inside an item", []step{{0, x[0], nil}, {0, x[1], nil}, {0, x[2], nil}, {0, nil, crash}}, begin + part + "response.output_text.delta response.failed error"},
	}
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		for _, tt := range tests {
			t.Run(string(profile)+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHandler(t, handlers.Config{Engine: slow{steps: tt.steps, ended: make(chan struct{})}, Profile: profile})
					w, aborted := stream(t, h, responsesPath, string(responseWith(`,"stream":true`)))
					if got := transcript(w, aborted); got != tt.want {
						t.Errorf("%s\nwant %s\n%s", got, tt.want, w.Body)
					}
				})
			})
		}
	}
}

// TestResponseTruncation checks that a conversation that is too long is refused, or on
// request truncated, which the reply repeats and the log reports.
func TestResponseTruncation(t *testing.T) {
	var log bytes.Buffer
	h := newHandler(t, handlers.Config{
		Engine: playing(t, "models: {m: {context: 40, replies: [{pieces: [x]}]}}"),
		Log:    slog.New(slog.NewTextHandler(&log, nil)),
	})
	items := strings.Repeat(`{"role":"user","content":"one two three four five"},{"role":"assistant","content":"six seven eight nine ten"},`, 9)
	body := func(members string) []byte {
		return []byte(`{"model":"m","instructions":"Be kind.","input":[` + items + `{"role":"user","content":"last"}]` + members + `}`)
	}
	for _, members := range []string{"", `,"truncation":"disabled"`, `,"stream":true`} {
		w := post(t, h, responsesPath, body(members))
		if e, _ := errorOf(t, w.Body); w.Code != 400 || text(e.Code) != "context_length_exceeded" || text(e.Param) != "input" {
			t.Errorf("%s: status %d, %q at %q", members, w.Code, text(e.Code), text(e.Param))
		}
	}
	log.Reset()
	w := post(t, h, responsesPath, body(`,"truncation":"auto"`))
	var reply struct {
		Status, Truncation string
		Usage              struct {
			InputTokens int `json:"input_tokens"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || w.Code != 200 {
		t.Fatalf("status %d, %v\n%s", w.Code, err, w.Body)
	}
	if reply.Truncation != "auto" || reply.Usage.InputTokens > 30 || reply.Usage.InputTokens < 5 {
		t.Errorf("truncation %q, %d tokens of the prompt; want auto and what leaves a quarter of 40", reply.Truncation, reply.Usage.InputTokens)
	}
	if !strings.Contains(log.String(), "dropped_messages=") {
		t.Errorf("the log does not tell of it: %s", &log)
	}
}
