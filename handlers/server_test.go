package handlers_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

// Smallest bodies that each style takes.
const (
	chatBody     = `{"model":"m","messages":[{"role":"user","content":"u"}]}`
	messagesBody = `{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"u"}]}`
)

// styles are the two languages, for rules that hold in both.
var styles = []struct{ name, path, body, stream string }{
	{"openai", "/v1/chat/completions", chatBody, chatBody[:len(chatBody)-1] + `,"stream":true}`},
	{"anthropic", "/v1/messages", messagesBody, messagesBody[:len(messagesBody)-1] + `,"stream":true}`},
}

// newHandler serves one model called m that says x, unless c has an engine
// of its own. Every reply is held against its document.
func newHandler(t *testing.T, c handlers.Config) http.Handler {
	t.Helper()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Engine == nil {
		c.Engine = &handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")}
	}
	h, err := handlers.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return handlerstest.ContractOf(t, h, inForce(t, c))
}

// inForce are the documents as a server with that configuration keeps them.
func inForce(t *testing.T, c handlers.Config) openapi.Documents {
	t.Helper()
	documents, err := openapi.Embedded()
	if c.Documents != (openapi.Documents{}) {
		documents = c.Documents
	}
	if err == nil {
		documents, err = documents.Narrow(cmp.Or(c.Profile, openapi.ProfileDefault))
	}
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// ask sends a request; header is pairs of name and value, and an empty value
// takes the header away. The name Host sets the host.
func ask(t *testing.T, h http.Handler, method, path string, body []byte, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(body))
	r.Host = "localhost"
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		switch {
		case header[i] == "Host":
			r.Host = header[i+1]
		case header[i+1] == "":
			r.Header.Del(header[i])
		default:
			r.Header.Set(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func post(t *testing.T, h http.Handler, path string, body []byte, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, h, http.MethodPost, path, body, header...)
}

// wireError reads the error of either style.
type wireError struct {
	Type    string  `json:"type"`
	Message string  `json:"message"`
	Code    *string `json:"code"`
	Param   *string `json:"param"`
	Details *struct {
		ErrorCode   string    `json:"error_code"`
		Unsupported *[]string `json:"unsupported"`
	} `json:"details"`
}

// errorOf reads an error, and says which style it is in: the Anthropic one
// has a type beside it.
func errorOf(t *testing.T, body io.Reader) (e wireError, style string) {
	t.Helper()
	var envelope struct {
		Type  string    `json:"type"`
		Error wireError `json:"error"`
	}
	if err := json.NewDecoder(body).Decode(&envelope); err != nil {
		t.Fatalf("the body is no error: %v", err)
	}
	if envelope.Type == "error" {
		return envelope.Error, "anthropic"
	}
	return envelope.Error, "openai"
}

// text is the value, or empty for null and absent.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// firstText is the first text of a request.
func firstText(req *engine.Request) string {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(engine.Text); ok {
				return t.Text
			}
		}
	}
	return ""
}
