package handlers_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

// TestStrict checks that ignored fields are listed, or refused if the client or the server
// wants that.
func TestStrict(t *testing.T) {
	unenforced := handlerstest.Text("x")
	unenforced[0] = engine.Start{Unenforced: []engine.Place{{Field: engine.FieldTools, Index: 0, Path: "/not"}}}
	elsewhere := handlerstest.Text("x")
	elsewhere[0] = engine.Start{Ignored: []string{"top_k"}}
	unthinking := handlerstest.Text("x")
	unthinking[0] = engine.Start{Ignored: []string{"reasoning_effort"}}
	const tools = `"tools":[{"type":"function","function":{"name":"f","parameters":{"not":{}}}}]`
	const messagesTools = `"tools":[{"name":"f","input_schema":{"not":{}}}]`
	tests := []struct {
		name                           string
		openAI, anthropic              string // further members of the body
		events                         []engine.Event
		ignoredOpenAI, ignoredMessages string
	}{
		{"nothing is ignored", `"temperature":0`, `"temperature":0`, nil, "", ""},
		{"null is absence", `"user":null,"unknown":null`, `"metadata":null,"unknown":null`, nil, "", ""},
		{"ignored by its mark", `"user":"u"`, `"metadata":{"user_id":"u"}`, nil, "user", "metadata"},
		{"unknown", `"best_of":2`, `"best_of":2`, nil, "best_of", "best_of"},
		{"unknown, by case", `"Temperature":2`, `"Temperature":2`, nil, "Temperature", "Temperature"},
		{"a schema that cannot be enforced", tools, messagesTools, unenforced,
			"tools[0].function.parameters.not", "tools.0.input_schema.not"},
		{"a parameter that the model's server does not know", `"temperature":0`, `"top_k":3`, elsewhere, "top_k", "top_k"},
		{"and one that the styles have their own names for", `"reasoning_effort":"low"`, `"thinking":{"type":"adaptive"}`, unthinking,
			"reasoning_effort", "thinking"},
		{"a level that nothing is thought with", `"reasoning_effort":"low"`, `"output_config":{"effort":"low"}`, unthinking,
			"reasoning_effort", "output_config.effort"},
	}
	e := &handlerstest.Engine{Name: "m"}
	lenient, strict := newHandler(t, handlers.Config{Engine: e}), newHandler(t, handlers.Config{Engine: e, Strict: true})
	for _, tt := range tests {
		for _, style := range styles {
			members, ignored := tt.openAI, tt.ignoredOpenAI
			if style.name == "anthropic" {
				members, ignored = tt.anthropic, tt.ignoredMessages
			}
			for _, body := range []string{style.body, style.stream} {
				body = body[:len(body)-1] + "," + members + "}"
				t.Run(style.name+"/"+tt.name, func(t *testing.T) {
					if e.Events = tt.events; e.Events == nil {
						e.Events = handlerstest.Text("x")
					}
					w := post(t, lenient, style.path, []byte(body))
					if got := w.Header().Get("Diglot-Ignored"); w.Code != 200 || got != ignored {
						t.Errorf("status %d, Diglot-Ignored is %q, want 200 and %q\n%s", w.Code, got, ignored, w.Body)
					}
					checkStrict(t, post(t, lenient, style.path, []byte(body), "Prefer", "respond-async, handling=strict"), ignored)
					checkStrict(t, post(t, strict, style.path, []byte(body)), ignored)
				})
			}
		}
	}
}

func checkStrict(t *testing.T, w *httptest.ResponseRecorder, ignored string) {
	t.Helper()
	if ignored == "" {
		if w.Code != 200 {
			t.Errorf("strict: status %d, want 200\n%s", w.Code, w.Body)
		}
		return
	}
	e, _ := errorOf(t, w.Body)
	if w.Code != 400 || !strings.HasPrefix(e.Message, ignored+": ") && text(e.Param) != ignored {
		t.Errorf("strict: status %d, %q, param %q; want 400 and %s", w.Code, e.Message, text(e.Param), ignored)
	}
}

// TestProfiles checks what --profile document changes.
func TestProfiles(t *testing.T) {
	stopped := handlerstest.Text("x")
	stopped[4] = engine.Finish{Reason: engine.FinishStopSequence, StopSequence: "END"}
	const tool = `,"tools":[{"name":"f","input_schema":{"type":"object"}}]`
	tests := []struct {
		name, path, body     string
		status, byDocument   int
		want, wantByDocument string // parts of the replies
	}{
		{"tool_choice on messages", "/v1/messages", messagesBody[:len(messagesBody)-1] + tool + `,"tool_choice":{"type":"auto"}}`,
			200, 400, `"type":"message"`, "tool_choice: is not supported"},
		{"metadata stays ignored", "/v1/messages", messagesBody[:len(messagesBody)-1] + `,"metadata":{"user_id":"u"}}`,
			200, 200, `"type":"message"`, `"type":"message"`},
		{"cache_control stays ignored", "/v1/messages", messagesBody[:len(messagesBody)-1] + `,"cache_control":{"type":"ephemeral"}}`,
			200, 200, `"type":"message"`, `"type":"message"`},
		{"a stop sequence on messages", "/v1/messages", messagesBody,
			200, 200, `"stop_reason":"stop_sequence","stop_sequence":"END"`, `"stop_reason":"end_turn","stop_sequence":null`},
		{"in a stream, too", "/v1/messages", styles[1].stream,
			200, 200, `"stop_reason":"stop_sequence","stop_sequence":"END"`, `"stop_reason":"end_turn","stop_sequence":null`},
		{"count_tokens", "/v1/messages/count_tokens", messagesBody, 200, 404, `{"input_tokens":3}`, "/v1/messages/count_tokens. The interface document calls it unsupported."},
		{"batches", "/v1/messages/batches", "{}", 404, 404, "There are no batches", "There are no batches"},
		{"what the document does not list stays", "/v1/chat/completions", chatBody[:len(chatBody)-1] + `,"reasoning_effort":"low"}`,
			200, 200, `"finish_reason":"stop"`, `"finish_reason":"stop"`},
	}
	e := &handlerstest.Engine{Name: "m", Events: stopped}
	usual := newHandler(t, handlers.Config{Engine: e})
	byDocument := newHandler(t, handlers.Config{Engine: e, Profile: openapi.ProfileDocument})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if w := post(t, usual, tt.path, []byte(tt.body)); w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("status %d, want %d and %s\n%s", w.Code, tt.status, tt.want, w.Body)
			}
			if w := post(t, byDocument, tt.path, []byte(tt.body)); w.Code != tt.byDocument || !strings.Contains(w.Body.String(), tt.wantByDocument) {
				t.Errorf("by the document: status %d, want %d and %s\n%s", w.Code, tt.byDocument, tt.wantByDocument, w.Body)
			}
		})
	}
}

// TestPromptCountedLate checks that a stream ends with the prompt's length, even if it was
// not known at its beginning.
func TestPromptCountedLate(t *testing.T) {
	late := handlerstest.Text("x")
	late[0] = engine.Start{}
	const told = `"usage":{"input_tokens":3,"output_tokens":1,`
	e := &handlerstest.Engine{Name: "m"}
	h := newHandler(t, handlers.Config{Engine: e})
	for _, tt := range []struct {
		name   string
		events []engine.Event
	}{
		{"known at the start", handlerstest.Text("x")},
		{"known at the end", late},
	} {
		e.Events = tt.events
		w := post(t, h, "/v1/messages", []byte(styles[1].stream))
		_, delta, _ := strings.Cut(w.Body.String(), "event: message_delta")
		if w.Code != 200 || !strings.Contains(delta, told) {
			t.Errorf("%s: status %d, the count is not told at the end\n%s", tt.name, w.Code, w.Body)
		}
		if w := post(t, h, "/v1/messages", []byte(messagesBody)); !strings.Contains(w.Body.String(), `"input_tokens":3`) {
			t.Errorf("%s, whole: %s", tt.name, w.Body)
		}
	}
}
