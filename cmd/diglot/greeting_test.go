package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
)

func TestGreetingOfAnEmptyStore(t *testing.T) {
	u := newUser(t)
	s := startFor(t, u.environment(nil, nil).getenv)
	reply := post(t, s.url+"/v1/messages", `{"model": "nobody", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]}`)
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "diglot pull nobody") {
		t.Errorf("status %d, error %v:\n%s", reply.StatusCode, err, body)
	}
	if text := s.stdout.String(); !strings.Contains(text, "There are no models in "+filepath.Join(u.home, ".diglot", "models")+" yet.") || !strings.Contains(text, "diglot pull qwen2.5:0.5b") || !strings.Contains(text, s.url+"/v1;") || strings.Contains(text, "curl") {
		t.Errorf("the greeting:\n%s", text)
	}
	// What comes to the store is served without another start.
	u.model("m", "")
	if got := get(t, s.url+"/v1/models"); !strings.Contains(got, `"id":"m"`) {
		t.Errorf("models: %s", got)
	}
}

// greeting is what a server of this user prints.
func (u *user) greeting(args ...string) string {
	u.t.Helper()
	s := startFor(u.t, u.environment(nil, nil).getenv, append([]string{"--socket", "none"}, args...)...)
	_ = post(u.t, s.url+"/v1/messages", "{}") // a reply means that the greeting is complete
	return s.stdout.String()
}

// embeds makes a model for embeddings, and nothing else.
func (u *user) embeds(name string) {
	u.t.Helper()
	encoder := inspectiontest.Recipe{Architecture: "bert", Tokenizer: "bert", Meta: map[string]any{"bert.pooling_type": uint32(1), "bert.attention.causal": false}}
	u.must("create", name, "--quiet", u.made("encoder.gguf", encoder))
}

// TestGreetingNamesAModelThatWrites adds models one after the other: the newest
// is not always the one to ask.
func TestGreetingNamesAModelThatWrites(t *testing.T) {
	u := newUser(t)
	served := func(name, host string) {
		u.must("create", name, "--quiet", "-f", u.write("f", "FROM https://"+host+"/v1\nPARAMETER model big\n"))
	}
	for _, tt := range []struct {
		name string
		make func()
		args []string
		want string
	}{
		{"embeddings alone", func() { u.embeds("embeds") }, nil, "embeds"},
		{"another server", func() { u.must("login", "a.example.com", "--no-key"); served("far", "a.example.com") }, nil, "far"},
		{"one that is not allowed", func() { served("secret", "b.example.com") }, nil, "far"},
		{"one here", func() { u.model("old", "") }, nil, "old"},
		{"a newer one elsewhere", func() { served("farther", "a.example.com") }, nil, "old"},
		{"embeddings, and newer", func() { u.embeds("embeds2") }, nil, "old"},
		{"the newest", func() { u.model("new", "SYSTEM x") }, nil, "new"},
		{"to load", func() {}, []string{"--load", "old"}, "old"},
		{"to load, elsewhere", func() {}, []string{"--load", "far", "--load", "old"}, "far"},
		{"to load, for embeddings", func() {}, []string{"--load", "embeds", "--load", "old:latest"}, "old:latest"},
		{"to load, not allowed", func() {}, []string{"--load", "secret"}, "new"},
	} {
		tt.make()
		if text := u.greeting(tt.args...); strings.Count(text, fmt.Sprintf(`"model":%q`, tt.want)) != 2 {
			t.Errorf("%s: want the model %s in:\n%s", tt.name, tt.want, text)
		}
	}
}

// TestGreetingOfAScript has scripts whose first model writes no text.
func TestGreetingOfAScript(t *testing.T) {
	u := newUser(t)
	script := u.write("models.yaml", "models: {embeds: {embedding: 4}, paints: {image: true}, writes: {replies: [{pieces: [hello]}]}}")
	for _, args := range [][]string{{"--script", script}, {"--script", script, "--load", "embeds"}, {"--script", script, "--load", "embeds", "--load", "writes"}, {"--script", script, "--load", "paints"}} {
		if text := u.greeting(args...); strings.Count(text, `"model":"writes"`) != 2 {
			t.Errorf("%v:\n%s", args, text)
		}
	}
}

// TestGreetingWithAKey tells where the commands take a key from.
func TestGreetingWithAKey(t *testing.T) {
	u := newUser(t)
	u.model("m", "")
	const first = "Set DIGLOT_API_KEY to one of the keys first"
	if text := u.greeting("--api-key", "very-secret"); !strings.Contains(text, first) || strings.Contains(text, "very-secret") || strings.Count(text, "Bearer $DIGLOT_API_KEY") != 2 {
		t.Errorf("a key by a flag:\n%s", text)
	}
	u.variables["DIGLOT_API_KEY"] = "very-secret"
	if text := u.greeting(); strings.Contains(text, first) || !strings.Contains(text, "read the key from DIGLOT_API_KEY") {
		t.Errorf("a key of the environment:\n%s", text)
	}
}
