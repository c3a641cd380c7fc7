package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers"
)

// sdkHeaders are what the SDKs send from a browser besides CORS-safelisted headers.
const sdkHeaders = "authorization,x-api-key,content-type,anthropic-version,anthropic-beta," +
	"anthropic-dangerous-direct-browser-access,x-stainless-arch,x-stainless-helper-method,x-stainless-lang," +
	"x-stainless-os,x-stainless-package-version,x-stainless-retry-count,x-stainless-runtime," +
	"x-stainless-runtime-version,x-stainless-timeout,prefer"

func TestPreflight(t *testing.T) {
	h := newHandler(t, handlers.Config{Keys: handlers.NewKeys(handlers.Key{Name: "k", Key: "secret"}), AllowOrigins: []string{"https://app.example"}})
	tests := []struct {
		name, path, origin string
		header             []string
		allowed            bool
	}{
		{"a page on localhost", "/v1/chat/completions", "http://localhost:5173", nil, true},
		{"a page on loopback", "/v1/messages", "http://127.0.0.1:3000", nil, true},
		{"an allowed site", "/v1/models/a%2Fb", "https://app.example", nil, true},
		{"a path that does not exist", "/v1/nothing", "http://localhost", nil, true},
		{"the base", "/", "http://localhost", nil, true},
		{"another site", "/v1/messages", "https://evil.example", nil, false},
		{"a page without an origin", "/v1/messages", "null", nil, false},
		{"by a name that is not the server's", "/v1/messages", "http://localhost", []string{"Host", "evil.example"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(t, h, "OPTIONS", tt.path, nil, append([]string{
				"Origin", tt.origin,
				"Access-Control-Request-Method", "POST",
				"Access-Control-Request-Headers", sdkHeaders,
				"Access-Control-Request-Private-Network", "true",
			}, tt.header...)...)
			if w.Code != http.StatusNoContent || w.Body.Len() > 0 {
				t.Errorf("status %d with %d bytes, want 204 without: browsers follow no other", w.Code, w.Body.Len())
			}
			want := map[string]string{
				"Access-Control-Allow-Origin":          tt.origin,
				"Access-Control-Allow-Headers":         sdkHeaders,
				"Access-Control-Allow-Private-Network": "true",
			}
			for name, value := range want {
				if !tt.allowed {
					value = ""
				}
				if got := w.Header().Get(name); got != value {
					t.Errorf("%s is %q, want %q", name, got, value)
				}
			}
			if got := w.Header().Get("Access-Control-Allow-Methods"); strings.Contains(got, "POST") != tt.allowed {
				t.Errorf("Access-Control-Allow-Methods is %q", got)
			}
			if !slices.Contains(w.Header().Values("Vary"), "Origin") {
				t.Error("a cache may give this reply to another page: no Vary")
			}
		})
	}
}

// TestCrossOrigin checks which headers a page can read after the preflight, of errors too.
func TestCrossOrigin(t *testing.T) {
	h := newHandler(t, handlers.Config{Keys: handlers.NewKeys(handlers.Key{Name: "k", Key: "secret"})})
	key := []string{"Authorization", "Bearer secret"}
	tests := []struct {
		name, method, path, body string
		header                   []string
		status                   int
		readable                 bool
	}{
		{"a reply", "POST", "/v1/messages", messagesBody, append(key, "Origin", "http://localhost:1"), 200, true},
		{"an error", "POST", "/v1/messages", "{", append(key, "Origin", "http://localhost:1"), 400, true},
		{"no such path", "GET", "/nothing", "", append(key, "Origin", "http://localhost:1"), 404, true},
		{"no key", "POST", "/v1/chat/completions", chatBody, []string{"Origin", "http://localhost:1"}, 401, true},
		{"a site", "POST", "/v1/chat/completions", chatBody, append(key, "Origin", "https://evil.example"), 403, false},
		{"a site, to the other style", "POST", "/v1/messages", messagesBody, append(key, "Origin", "https://evil.example"), 403, false},
		{"no page", "POST", "/v1/messages", messagesBody, key, 200, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(t, h, tt.method, tt.path, []byte(tt.body), tt.header...)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d\n%s", w.Code, tt.status, w.Body)
			}
			exposed := w.Header().Get("Access-Control-Expose-Headers")
			for _, name := range []string{"x-request-id", "request-id", "Diglot-Ignored", "Retry-After", "x-should-retry"} {
				if strings.Contains(exposed, name) != tt.readable {
					t.Errorf("Access-Control-Expose-Headers is %q, %s in it should be %v", exposed, name, tt.readable)
				}
			}
		})
	}
}

// TestDoors checks that keys, Host and Origin are refused in the request's style.
func TestDoors(t *testing.T) {
	h := newHandler(t, handlers.Config{Keys: handlers.NewKeys(handlers.Key{Name: "k", Key: "secret"})})
	tests := []struct {
		name               string
		header             []string
		status             int
		openAI, openAICode string
		anthropic          string
	}{
		{name: "no key", status: 401, openAI: "invalid_request_error", openAICode: "invalid_api_key", anthropic: "authentication_error"},
		{name: "a wrong key", header: []string{"X-Api-Key", "guess"}, status: 401,
			openAI: "invalid_request_error", openAICode: "invalid_api_key", anthropic: "authentication_error"},
		{name: "the word Bearer alone", header: []string{"Authorization", "Bearer "}, status: 401,
			openAI: "invalid_request_error", openAICode: "invalid_api_key", anthropic: "authentication_error"},
		{name: "a bearer", header: []string{"Authorization", "Bearer secret"}, status: 200},
		{name: "an x-api-key", header: []string{"X-Api-Key", "secret"}, status: 200},
		{name: "a strange host", header: []string{"Host", "evil.example", "X-Api-Key", "secret"}, status: 403,
			openAI: "invalid_request_error", openAICode: "forbidden", anthropic: "permission_error"},
	}
	for _, tt := range tests {
		for _, style := range styles {
			t.Run(tt.name+"/"+style.name, func(t *testing.T) {
				w := post(t, h, style.path, []byte(style.body), tt.header...)
				if w.Code != tt.status {
					t.Fatalf("status %d, want %d\n%s", w.Code, tt.status, w.Body)
				}
				if tt.status == 200 {
					return
				}
				e, in := errorOf(t, w.Body)
				wantType, wantCode := tt.openAI, tt.openAICode
				if style.name == "anthropic" {
					wantType, wantCode = tt.anthropic, ""
				}
				if in != style.name || e.Type != wantType || text(e.Code) != wantCode {
					t.Errorf("%s, code %q, in the %s style; want %s, code %q", e.Type, text(e.Code), in, wantType, wantCode)
				}
			})
		}
	}
	for _, path := range []string{"/", "/health", "/openapi/openai.json"} {
		if w := ask(t, h, "GET", path, nil); w.Code != 200 {
			t.Errorf("%s without a key: status %d; probes have none", path, w.Code)
		}
	}
}
