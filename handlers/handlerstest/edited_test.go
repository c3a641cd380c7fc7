package handlerstest

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
)

// TestEditedDocuments checks that errors and headers of replies follow the documents: an
// edit changes the reply, or fails its check, without a change in Go.
func TestEditedDocuments(t *testing.T) {
	const chat, messages, responses = "/v1/chat/completions", "/v1/messages", "/v1/responses"
	bodies := map[string]string{
		chat:      `{"model":"m","messages":[{"role":"user","content":"u"}]}`,
		messages:  `{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"u"}]}`,
		responses: `{"model":"m","input":"u","stream":true}`,
	}
	busy := engine.Errorf(engine.CodeOverloaded, "Busy.")
	for _, tt := range []struct {
		name, document, old, text string
		path                      string
		err                       error
		reply                     string // what stands in the reply then
		edited, own               string // what the edited and our own document say of it; empty: it fits
	}{
		{"code", "openai.yaml", "code: overloaded", "code: busy", chat, busy,
			`"code":"busy"`, "", "lists no error of status 503"},
		{"type", "openai.yaml", "type: server_error, param: null, code: overloaded", "type: invalid_request_error, param: null, code: overloaded", chat, busy,
			`"type":"invalid_request_error"`, "", "lists no error of status 503"},
		{"status", "openai.yaml", "'503':", "'429':", chat, busy,
			"429", "", "createChatCompletion does not answer with status 429"},
		{"status of the other style", "anthropic.yaml", "'529':", "'503':", messages, busy,
			"503", "", "createMessage does not answer with status 503"},
		{"type of the other style", "anthropic.yaml", "type: overloaded_error", "type: api_error", messages, busy,
			`"type":"api_error"`, "", "lists no error of status 529"},
		{"code in a stream", "openai.yaml", "code: overloaded", "code: busy", responses, busy,
			`"code":"busy"`, "", "lists no error"},
		{"code of a failed response", "openai.yaml", "x-failed-response: rate_limit_exceeded", "x-failed-response: invalid_prompt", responses, busy,
			`"error":{"code":"invalid_prompt","message":"Busy."}`, "", ""},
		{"another value of a header", "openai.yaml", "'^req_[0-9a-f]{24}$'", "'^id_[0-9a-f]{24}$'", chat, nil,
			"200", "request-id must match ^id_", ""},
		{"another header", "anthropic.yaml", "x-request-id: {", "x-trace-id: {", messages, nil,
			"Access-Control-Expose-Headers: Allow, Diglot-Ignored, Diglot-Replay, Retry-After, Upgrade, request-id, x-request-id, x-should-retry, x-trace-id", "x-trace-id comes 0 times", ""},
		{"a header less", "openai.yaml", "            request-id: {$ref: '#/components/headers/RequestID'}\n", "", chat, nil,
			"200", "Request-Id is not in the document", ""},
		{"a header that is required", "openai.yaml", "had no effect, as comma-separated paths.", "had no effect.\n      required: true", chat, nil,
			"200", "Diglot-Ignored comes 0 times", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			documents := edited(t, tt.document, tt.old, tt.text)
			events := len(Text("x"))
			if tt.err != nil {
				events = 3 // the error comes within the answer
			}
			h, err := handlers.New(handlers.Config{
				Documents: documents,
				Engine:    &Engine{Name: "m", Events: Text("x")[:events], Err: tt.err},
				Log:       slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), "POST", tt.path, strings.NewReader(bodies[tt.path]))
			r.Host = "localhost"
			r.Header.Set("Origin", "http://localhost:3000")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)

			var head strings.Builder
			_ = w.Header().Write(&head)
			if all := fmt.Sprint(w.Code, head.String(), w.Body); !strings.Contains(strings.ReplaceAll(all, "\r", ""), tt.reply) {
				t.Errorf("no %q in the reply\n%s", tt.reply, all)
			}
			for _, c := range []struct {
				documents openapi.Documents
				want      string
			}{{documents, tt.edited}, {own(t), tt.own}} {
				err := contract{Documents: c.documents}.check(r, w.Code, w.Header(), w.Body.Bytes())
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("the check says %v, want %q", err, c.want)
				}
			}
		})
	}
}

// edited are the documents of this server with one of them edited.
func edited(t *testing.T, name, old, text string) openapi.Documents {
	t.Helper()
	documents := own(t)
	document := Edited(t, name, old, text)
	if name == "openai.yaml" {
		documents.OpenAI = document
		return documents
	}
	documents.Anthropic = document
	return documents
}
