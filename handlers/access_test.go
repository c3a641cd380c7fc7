package handlers

import (
	"net/http/httptest"
	"testing"

	"github.com/diglot/diglot/engine"
)

func TestAccess(t *testing.T) {
	keys := Config{Keys: NewKeys(Key{"a", "one"}, Key{"b", "two"})}
	tests := []struct {
		name   string
		config Config
		host   string
		header map[string]string
		want   engine.Code
	}{
		{"nothing asked, nothing checked", Config{}, "localhost:8484", nil, ""},
		{"any key is accepted when none is set", Config{}, "localhost", map[string]string{"Authorization": "Bearer x"}, ""},

		{"host: loopback address", Config{}, "127.0.0.1:8484", nil, ""},
		{"host: any IP literal", Config{}, "192.0.2.7", nil, ""},
		{"host: IPv6 literal", Config{}, "[2001:db8::1]:80", nil, ""},
		{"host: name under localhost", Config{}, "api.localhost", nil, ""},
		{"host: a name of its own", Config{}, "evil.example", nil, engine.CodeForbidden},
		{"host: a name that only begins well", Config{}, "localhost.evil.example", nil, engine.CodeForbidden},
		{"host: allowed", Config{AllowHosts: []string{"box.lan"}}, "BOX.lan:80", nil, ""},
		{"host: the one listened on", Config{Listen: "box.lan:8484"}, "box.lan:8484", nil, ""},

		{"origin: loopback page", Config{}, "localhost", map[string]string{"Origin": "http://127.0.0.1:5173"}, ""},
		{"origin: localhost page", Config{}, "localhost", map[string]string{"Origin": "https://localhost:3000"}, ""},
		{"origin: the server's own", Config{AllowHosts: []string{"box.lan"}}, "box.lan:80", map[string]string{"Origin": "http://box.lan:80"}, ""},
		{"origin: a site", Config{}, "localhost", map[string]string{"Origin": "https://evil.example"}, engine.CodeForbidden},
		{"origin: null", Config{}, "localhost", map[string]string{"Origin": "null"}, engine.CodeForbidden},
		{"origin: allowed", Config{AllowOrigins: []string{"https://app.example"}}, "localhost", map[string]string{"Origin": "https://app.example"}, ""},
		{"origin: all allowed", Config{AllowOrigins: []string{"*"}}, "localhost", map[string]string{"Origin": "null"}, ""},

		{"key: missing", keys, "localhost", nil, engine.CodeUnauthenticated},
		{"key: bearer", keys, "localhost", map[string]string{"Authorization": "Bearer two"}, ""},
		{"key: scheme in lower case", keys, "localhost", map[string]string{"Authorization": "bearer two"}, ""},
		{"key: x-api-key", keys, "localhost", map[string]string{"X-Api-Key": "one"}, ""},
		{"key: one right beside one wrong", keys, "localhost", map[string]string{"X-Api-Key": "one", "Authorization": "Bearer no"}, ""},
		{"key: wrong", keys, "localhost", map[string]string{"X-Api-Key": "on"}, engine.CodeUnauthenticated},
		{"key: empty", keys, "localhost", map[string]string{"Authorization": "Bearer "}, engine.CodeUnauthenticated},
		{"key: basic is not bearer", keys, "localhost", map[string]string{"Authorization": "Basic one"}, engine.CodeUnauthenticated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/messages", nil)
			r.Host = tt.host
			for name, value := range tt.header {
				r.Header.Set(name, value)
			}
			var got engine.Code
			if err := newAccess(tt.config, nil).check(r); err != nil {
				got = err.Code
			}
			if got != tt.want {
				t.Errorf("check = %q, want %q", got, tt.want)
			}
		})
	}
}
