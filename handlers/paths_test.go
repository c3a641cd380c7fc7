package handlers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
)

// long: most of it is the table.
func TestPaths(t *testing.T) {
	h := newHandler(t, handlers.Config{})
	tests := []struct {
		name, method, path string
		body               string
		header             []string
		status             int
		style              string // of the error; empty: no error
		message            string // a part of it
		allow              string
	}{
		{name: "the base", method: "GET", path: "/", status: 200},
		{name: "the base, as a coding agent probes it", method: "HEAD", path: "/", status: 200},
		{name: "health", method: "GET", path: "/health", status: 200},
		{name: "health has no POST", method: "POST", path: "/health", status: 405, style: "openai", allow: "GET, HEAD"},

		{name: "readiness", method: "GET", path: "/readyz", status: 200},
		{name: "readiness, its head alone", method: "HEAD", path: "/readyz", status: 200},
		{name: "readiness has no POST", method: "POST", path: "/readyz", status: 405, style: "openai", allow: "GET, HEAD"},

		{name: "a document", method: "GET", path: "/openapi/openai.json", status: 200},
		{name: "a document, its head alone", method: "HEAD", path: "/openapi/anthropic-3.1.json", status: 200},
		{name: "a document has no POST", method: "POST", path: "/openapi/anthropic.json", status: 405, style: "openai", allow: "GET, HEAD"},
		{name: "no document", method: "GET", path: "/openapi/nobody.yaml", status: 404, style: "openai", message: "No such path"},

		{name: "chat", method: "POST", path: "/v1/chat/completions", body: chatBody, status: 200},
		{name: "messages", method: "POST", path: "/v1/messages", body: messagesBody, status: 200},
		{name: "messages of a beta client", method: "POST", path: "/v1/messages?beta=true", body: messagesBody,
			header: []string{"Anthropic-Version", "2026-10-21", "Anthropic-Beta", "a,b"}, status: 200},
		{name: "any version", method: "POST", path: "/v1/messages", body: messagesBody, header: []string{"Anthropic-Version", "x"}, status: 200},

		{name: "unknown", method: "GET", path: "/v1/nothing", status: 404, style: "openai", message: "/v1/nothing"},
		{name: "unknown, with a method of no operation", method: "BREW", path: "/v1/nothing", status: 404, style: "openai"},
		{name: "unknown below messages", method: "GET", path: "/v1/messages/x/y", status: 404, style: "anthropic"},
		{name: "a slash behind the path", method: "POST", path: "/v1/messages/", body: messagesBody, status: 404, style: "anthropic"},
		{name: "tokens are counted", method: "POST", path: "/v1/messages/count_tokens?beta=true", body: messagesBody, status: 200},
		{name: "count_tokens has no GET", method: "GET", path: "/v1/messages/count_tokens", status: 405, style: "anthropic", allow: "POST"},
		{name: "no batches", method: "POST", path: "/v1/messages/batches", body: "{}",
			status: 404, style: "anthropic", message: "There are no batches"},
		{name: "no batches to list", method: "GET", path: "/v1/messages/batches", status: 404, style: "anthropic"},

		{name: "/v1 is missing: chat", method: "POST", path: "/chat/completions", body: chatBody,
			status: 404, style: "openai", message: "http://localhost/v1 for OpenAI clients"},
		{name: "/v1 is missing: messages", method: "POST", path: "/messages", body: messagesBody,
			status: 404, style: "anthropic", message: "http://localhost for Anthropic clients"},
		{name: "/v1 is missing: models", method: "GET", path: "/models/m", status: 404, style: "openai", message: "/v1/models/m"},
		{name: "/v1 twice: chat", method: "POST", path: "/v1/v1/chat/completions", body: chatBody,
			status: 404, style: "openai", message: "Did you mean /v1/chat/completions?"},
		{name: "/v1 twice: messages", method: "POST", path: "/v1/v1/messages", body: messagesBody,
			status: 404, style: "anthropic", message: "Did you mean /v1/messages?"},
		{name: "/v1 twice: models of an Anthropic client", method: "GET", path: "/v1/v1/models", header: []string{"Anthropic-Version", "x"},
			status: 404, style: "anthropic", message: "Did you mean /v1/models?"},
		{name: "endpoint as base: chat", method: "POST", path: "/v1/chat/completions/chat/completions", status: 404, style: "openai", message: "mean /v1/chat/completions?"},
		{name: "endpoint as base: messages", method: "POST", path: "/v1/messages/v1/messages", status: 404, style: "anthropic", message: "mean /v1/messages?"},

		{name: "no such path, to an Anthropic client", method: "POST", path: "/v1/complete", body: "{}", header: []string{"Anthropic-Version", "2023-06-01"}, status: 404, style: "anthropic", message: "/v1/complete"},
		{name: "no such path at all, to an Anthropic client", method: "GET", path: "/x/messages", header: []string{"Anthropic-Version", "x"}, status: 404, style: "anthropic"},
		{name: "no such path, to another", method: "POST", path: "/v1/complete", body: "{}", status: 404, style: "openai"},
		{name: "chat, to an Anthropic client", method: "GET", path: "/v1/chat/completions", header: []string{"Anthropic-Version", "x"}, status: 405, style: "openai", allow: "POST"},
		{name: "chat without /v1, to an Anthropic client", method: "POST", path: "/chat/completions", header: []string{"Anthropic-Version", "x"}, status: 404, style: "openai", message: "/v1/chat/completions"},

		{name: "chat has no GET", method: "GET", path: "/v1/chat/completions", status: 405, style: "openai", allow: "POST"},
		{name: "messages has no GET", method: "GET", path: "/v1/messages", status: 405, style: "anthropic", allow: "POST"},
		{name: "messages has no TRACE", method: "TRACE", path: "/v1/messages", status: 405, style: "anthropic", allow: "POST"},
		{name: "an unknown method", method: "BREW", path: "/v1/chat/completions", status: 405, style: "openai", allow: "POST"},
		{name: "OPTIONS that is no preflight", method: "OPTIONS", path: "/v1/chat/completions", status: 405, style: "openai", allow: "POST"},
		{name: "the list of models, its head alone", method: "HEAD", path: "/v1/models", status: 200},
		{name: "the head of no model", method: "HEAD", path: "/v1/models/none", status: 404},
		{name: "models has no POST", method: "POST", path: "/v1/models", body: "{}", status: 405, style: "openai", allow: "GET, HEAD"},
		{name: "a model cannot be deleted", method: "DELETE", path: "/v1/models/a/b", status: 405, style: "openai", allow: "GET, HEAD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var body []byte
			if tt.body != "" {
				body = []byte(tt.body)
			}
			w := ask(t, h, tt.method, tt.path, body, tt.header...)
			if w.Code != tt.status {
				t.Fatalf("status %d, want %d\n%s", w.Code, tt.status, w.Body)
			}
			if got := w.Header().Get("Allow"); got != tt.allow {
				t.Errorf("Allow is %q, want %q", got, tt.allow)
			}
			if got := w.Header().Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type is %q", got)
			}
			if tt.style == "" {
				return
			}
			e, style := errorOf(t, w.Body)
			if style != tt.style || !strings.Contains(e.Message, tt.message) {
				t.Errorf("error %q in the %s style, want %q in the %s style", e.Message, style, tt.message, tt.style)
			}
		})
	}
}

// TestModelsBehindTheDoor checks that a page in a browser cannot read the list of models
// under another host name (DNS rebinding).
func TestModelsBehindTheDoor(t *testing.T) {
	h := newHandler(t, handlers.Config{})
	for style, header := range map[string][]string{"openai": nil, "anthropic": {"Anthropic-Version", "x"}} {
		w := ask(t, h, "GET", "/v1/models", nil, append(header, "Host", "evil.example")...)
		if _, got := errorOf(t, w.Body); w.Code != http.StatusForbidden || got != style {
			t.Errorf("status %d in the %s style, want 403 in the %s style", w.Code, got, style)
		}
	}
}

// zoo lists models with names that are hard to put into a path.
type zoo struct {
	engine.Engine // nothing else is asked
	names         []string
}

func (z zoo) Models(context.Context) ([]engine.Model, error) {
	var models []engine.Model
	for _, name := range z.names {
		models = append(models, engine.Model{Name: name, Owner: "library", Changed: time.Unix(1_700_000_000, 0)})
	}
	return models, nil
}

func (zoo) Generate(_ context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) { yield(nil, engine.ModelNotFound(req.Model)) }
}

func TestModelNames(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: zoo{names: []string{"a b", "hf.co/org/Repo-GGUF:Q4", "lib/sub:tag", "m:latest", "odd?name#1 +&=", "x%2Fy", "é"}}})
	tests := []struct {
		name, path, id string // no id: not found
	}{
		{"slash escaped, colon raw", "/v1/models/lib%2Fsub:tag", "lib/sub:tag"},
		{"slash raw", "/v1/models/lib/sub:tag", "lib/sub:tag"},
		{"all escaped", "/v1/models/lib%2Fsub%3Atag", "lib/sub:tag"},
		{"three segments", "/v1/models/hf.co/org/Repo-GGUF:Q4", "hf.co/org/Repo-GGUF:Q4"},
		{"half escaped", "/v1/models/hf.co%2Forg/Repo-GGUF:Q4", "hf.co/org/Repo-GGUF:Q4"},
		{"space", "/v1/models/a%20b", "a b"},
		{"a percent sign in the name", "/v1/models/x%252Fy", "x%2Fy"},
		{"all that means something in an address", "/v1/models/odd%3Fname%231%20+&=", "odd?name#1 +&="},
		{"a plus sign escaped", "/v1/models/odd%3Fname%231%20%2B%26%3D", "odd?name#1 +&="},
		{"with the tag of another", "/v1/models/m:7b", ""},
		{"a part of a name", "/v1/models/lib", ""},
		{"beyond ASCII", "/v1/models/%C3%A9", "é"},
		{"without the tag latest", "/v1/models/m", "m:latest"},
		{"unknown", "/v1/models/nobody", ""},
		{"unknown, not Unicode", "/v1/models/%FF", ""},
	}
	for _, tt := range tests {
		for style, header := range map[string]string{"openai": "", "anthropic": "2023-06-01"} {
			t.Run(tt.name+"/"+style, func(t *testing.T) {
				w := ask(t, h, "GET", tt.path, nil, "Anthropic-Version", header)
				if tt.id != "" {
					var got struct{ ID string }
					if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || got.ID != tt.id {
						t.Errorf("status %d, want 200 and the model %s\n%s", w.Code, tt.id, w.Body)
					}
					return
				}
				e, got := errorOf(t, w.Body)
				if w.Code != 404 || got != style || !strings.Contains(e.Message, "does not exist") {
					t.Errorf("status %d in the %s style: %q", w.Code, got, e.Message)
				}
				if style == "openai" && (text(e.Code) != "model_not_found" || text(e.Param) != "model") {
					t.Errorf("code %q, param %q", text(e.Code), text(e.Param))
				}
			})
		}
	}
}

func TestModelLists(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: zoo{names: []string{"a", "b", "c"}}})
	const version = "Anthropic-Version"
	tests := []struct {
		name, path string
		header     []string
		status     int
		want       string // a part of the body
	}{
		{"openai", "/v1/models", nil, 200, `"object":"list"`},
		{"openai knows no pages", "/v1/models?limit=1&after_id=a", nil, 200, `"id":"a"`},
		{"anthropic", "/v1/models", []string{version, "x"}, 200, `"has_more":false`},
		{"a page", "/v1/models?limit=1", []string{version, "x"}, 200, `"has_more":true`},
		{"the page behind", "/v1/models?limit=1&after_id=b", []string{version, "x"}, 200, `"first_id":"c"`},
		{"the page before", "/v1/models?limit=1&before_id=c", []string{version, "x"}, 200, `"first_id":"b"`},
		{"an empty page", "/v1/models?after_id=c", []string{version, "x"}, 200, `"first_id":null`},
		{"unknown parameters are nobody's business", "/v1/models?lifecycle=a&lifecycle=b", []string{version, "x"}, 200, `"has_more":false`},
		{"models in use", "/v1/models?lifecycle%5B%5D=active&lifecycle[]=retired&limit=1", []string{version, "x"}, 200, `"has_more":true,"first_id":"a"`},
		{"models that are withdrawn", "/v1/models?lifecycle[]=deprecated&lifecycle[]=retired", []string{version, "x"}, 200, `"data":[],"has_more":false`},
		{"models in no stage", "/v1/models?lifecycle[]=new", []string{version, "x"}, 400, `lifecycle[]: must be one of: active, deprecated, retired`},
		{"limit in words", "/v1/models?limit=many", []string{version, "x"}, 400, `limit: must be an integer`},
		{"limit of nothing", "/v1/models?limit=", []string{version, "x"}, 400, `limit: must be an integer`},
		{"limit too small", "/v1/models?limit=0", []string{version, "x"}, 400, `limit: must be between 1 and 1000`},
		{"limit with an exponent", "/v1/models?limit=1e2", []string{version, "x"}, 400, `limit: must be an integer`},
		{"limit with blanks", "/v1/models?limit=%205", []string{version, "x"}, 400, `limit: must be an integer`},
		{"limit twice", "/v1/models?limit=1&limit=2", []string{version, "x"}, 400, `limit: must be given once`},
		{"limit over the most", "/v1/models?limit=1001", []string{version, "x"}, 400, `limit: must be between 1 and 1000`},
		{"between two", "/v1/models?after_id=a&before_id=c", []string{version, "x"}, 200, `"has_more":false,"first_id":"b","last_id":"b"`},
		{"behind a model by its other name", "/v1/models?after_id=b:latest", []string{version, "x"}, 200, `"first_id":"c"`},
		{"before nobody", "/v1/models?before_id=nobody", []string{version, "x"}, 400, `before_id: `},
		{"behind nobody", "/v1/models?after_id=nobody", []string{version, "x"}, 400, `after_id: `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(t, h, "GET", tt.path, nil, tt.header...)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("status %d, want %d and %s\n%s", w.Code, tt.status, tt.want, w.Body)
			}
		})
	}
}

// TestModelPages reads a list in pages of every size, in both directions, following what
// each page says.
func TestModelPages(t *testing.T) {
	var names []string
	for i := range 25 {
		names = append(names, fmt.Sprintf("lib/m%02d:q4", i))
	}
	h := newHandler(t, handlers.Config{Engine: zoo{names: names}})
	backwards := slices.Clone(names)
	slices.Reverse(backwards)
	for limit := 1; limit <= len(names)+1; limit++ {
		if got := readPages(t, h, limit, "after_id", names[0]); !slices.Equal(got, names[1:]) {
			t.Errorf("limit %d, forwards: %v", limit, got)
		}
		if got := readPages(t, h, limit, "before_id", names[24]); !slices.Equal(got, backwards[1:]) {
			t.Errorf("limit %d, backwards: %v", limit, got)
		}
	}
	if got := page(t, h, "/v1/models"); len(got.Data) != 20 || !got.HasMore {
		t.Errorf("without a limit: %d models, has_more %t; want 20 of 25", len(got.Data), got.HasMore)
	}
}

// modelPage is a page of models in the Anthropic style.
type modelPage struct {
	Data    []struct{ ID string }
	HasMore bool   `json:"has_more"`
	FirstID string `json:"first_id"`
	LastID  string `json:"last_id"`
}

func page(t *testing.T, h http.Handler, path string) (p modelPage) {
	t.Helper()
	w := ask(t, h, "GET", path, nil, "Anthropic-Version", "2023-06-01")
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 200 {
		t.Fatalf("status %d\n%s", w.Code, w.Body)
	}
	return p
}

// readPages reads pages until there are no more, and returns the ids in order.
func readPages(t *testing.T, h http.Handler, limit int, direction, from string) (ids []string) {
	t.Helper()
	for more := true; more; {
		p := page(t, h, fmt.Sprintf("/v1/models?limit=%d&%s=%s", limit, direction, url.QueryEscape(from)))
		if direction == "before_id" {
			slices.Reverse(p.Data)
			from = p.FirstID
		} else {
			from = p.LastID
		}
		for _, m := range p.Data {
			ids = append(ids, m.ID)
		}
		more = p.HasMore
	}
	return ids
}

// TestModelFacts checks when and whose a model is, known or not.
func TestModelFacts(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: playing(t, `models: {m: {replies: [{pieces: [x]}]}, org/m: {replies: [{pieces: [x]}]}}`)})
	for _, tt := range []struct{ path, version, want string }{
		{"/v1/models/m", "", `{"id":"m","object":"model","created":0,"owned_by":"library"}`},
		{"/v1/models/org/m", "", `{"id":"org/m","object":"model","created":0,"owned_by":"org"}`},
		{"/v1/models/m", "2023-06-01", `{"type":"model","id":"m","display_name":"m","capabilities":null,"created_at":"1970-01-01T00:00:00Z","deprecated_at":null,"lifecycle":"active","line":null,"max_input_tokens":null,"max_tokens":null,"retires_at":null}`},
	} {
		w := ask(t, h, "GET", tt.path, nil, "Anthropic-Version", tt.version)
		if got := strings.TrimSpace(w.Body.String()); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.path, got, tt.want)
		}
	}
}

// TestUpgrades checks that a request for another protocol is an error on every path, and
// that an optional offer is ignored.
func TestUpgrades(t *testing.T) {
	h := newHandler(t, handlers.Config{AllowOrigins: []string{"https://app.example"}})
	socket := []string{"Connection", "keep-alive, Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}
	for _, tt := range []struct {
		name, method, path string
		header             []string
		status             int
		style              string
	}{
		{"a coding agent's probe", "GET", "/v1/responses", socket, 426, "openai"},
		{"another operation", "GET", "/v1/chat/completions", socket, 426, "openai"},
		{"the other style", "GET", "/v1/messages", socket, 426, "anthropic"},
		{"a path that nobody has", "GET", "/v1/realtime", socket, 426, "openai"},
		{"a path that is there", "GET", "/v1/models", socket, 426, "openai"},
		{"with a body", "POST", "/v1/messages", socket, 426, "anthropic"},
		{"several, in capitals", "GET", "/v1/responses", []string{"Connection", "UPGRADE", "Upgrade", "h2c, WebSocket"}, 426, "openai"},
		{"another protocol", "GET", "/v1/responses", []string{"Connection", "Upgrade", "Upgrade", "IRC/6.9"}, 426, "openai"},
		{"from a page of another site", "GET", "/v1/responses", append(socket[:len(socket):len(socket)], "Origin", "https://evil.example"), 403, "openai"},
		{"an offer of HTTP/2", "POST", "/v1/messages", []string{"Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "HTTP2-Settings", "AA"}, 200, ""},
		{"an offer of TLS", "POST", "/v1/messages", []string{"Connection", "Upgrade", "Upgrade", "TLS/1.2, HTTP/2.0"}, 200, ""},
		{"no upgrade of this connection", "POST", "/v1/messages", []string{"Upgrade", "websocket"}, 200, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var body []byte
			if tt.method == "POST" {
				body = []byte(messagesBody)
			}
			w := ask(t, h, tt.method, tt.path, body, tt.header...)
			if w.Code != tt.status {
				t.Fatalf("status %d, want %d\n%s", w.Code, tt.status, w.Body)
			}
			if tt.style != "" {
				if _, style := errorOf(t, w.Body); style != tt.style {
					t.Errorf("the error is in the %s style", style)
				}
			}
			upgrade, connection := w.Header().Get("Upgrade"), strings.Join(w.Header().Values("Connection"), ", ")
			if told := upgrade == "HTTP/1.1" && strings.Contains(connection, "Upgrade"); told != (tt.status == 426) {
				t.Errorf("Upgrade is %q, Connection %q", upgrade, connection)
			}
		})
	}
}

// TestReadiness checks that /readyz reports readiness, and /health liveness.
func TestReadiness(t *testing.T) {
	ready := false
	h := newHandler(t, handlers.Config{Ready: func() bool { return ready }, Keys: handlers.NewKeys(handlers.Key{Name: "k", Key: "secret"})})
	for _, want := range []int{503, 200} {
		if w := ask(t, h, "GET", "/readyz", nil); w.Code != want || (w.Header().Get("Retry-After") == "") != (want == 200) {
			t.Errorf("readiness: status %d, want %d", w.Code, want)
		}
		if w := ask(t, h, "GET", "/health", nil); w.Code != 200 {
			t.Errorf("health: status %d", w.Code)
		}
		ready = true
	}
}
