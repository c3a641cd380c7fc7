package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/credentials"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/upstream"
)

// TestConnectorAndItsHeader has a definition name the header for the router,
// or none. The hash is the same for each server of one kind: they may stand
// side by side.
func TestConnectorAndItsHeader(t *testing.T) {
	var got http.Header
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	}))
	defer far.Close()
	hash := ""
	for _, tt := range []struct{ set, want string }{
		{"", upstream.DefaultAffinityHeader},
		{"X-User-ID", "X-User-ID"},
		{"-", ""},
	} {
		home := t.TempDir()
		file, err := credentials.Open(filepath.Join(home, "credentials.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Allow(far.URL); err != nil {
			t.Fatal(err)
		}
		env := environment{getenv: func(name string) string { return map[string]string{"DIGLOT_HOME": home}[name] }}
		e, err := connector(env, slog.New(slog.DiscardHandler))(t.Context(), modelfile.Remote{URL: far.URL + "/v1", Model: "m", AffinityHeader: tt.set})
		if err != nil {
			t.Fatal(err)
		}
		req := &engine.Request{Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "hi"}}}}}
		for _, err := range e.Generate(t.Context(), req) {
			if err != nil {
				t.Fatalf("%q: %v", tt.set, err)
			}
		}
		for _, name := range []string{upstream.DefaultAffinityHeader, "X-User-ID"} {
			value := got.Get(name)
			if (value != "") != (name == tt.want) {
				t.Errorf("%q: %s is %q", tt.set, name, value)
			}
			if value != "" && hash != "" && value != hash {
				t.Errorf("%q: the hash is %s, and was %s", tt.set, value, hash)
			}
			if value != "" {
				hash = value
			}
		}
	}
}
