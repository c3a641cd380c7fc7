package record

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/diglot/diglot/cassettes"
	"gopkg.in/dnaeon/go-vcr.v3/cassette"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct{ path, name, rest string }{
		{"/record/openai/chat/plain-go/v1/chat/completions", "openai/chat/plain-go", "/v1/chat/completions"},
		{"/record/openai/models/retrieve-go/v1/models/lib%2Fsub:tag", "openai/models/retrieve-go", "/v1/models/lib%2Fsub:tag"},
		{"/record/openai/chat", "", ""},
		{"/v1/chat/completions", "", ""},
	} {
		name, rest, err := split(tt.path)
		if name != tt.name || rest != tt.rest || (err != nil) != (tt.name == "") {
			t.Errorf("split(%q) = %q, %q, %v; want %q, %q", tt.path, name, rest, err, tt.name, tt.rest)
		}
	}
}

// TestProxy records two requests of one case, where the second holds an id
// that the first reply gave out.
func TestProxy(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.URL.EscapedPath()+" "+string(body))
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":"call_Z9Z9Z9Z9Z9Z9Z9Z9","created":5}`)
	}))
	defer server.Close()
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	proxy := New(target, folder, nil)
	front := httptest.NewServer(proxy)
	defer front.Close()
	for _, body := range []string{`{"n":1}`, `{"call":"call_Z9Z9Z9Z9Z9Z9Z9Z9"}`} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+"/record/openai/chat/case-go/v1/a%2Fb", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer secret")
		reply, err := front.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := io.ReadAll(reply.Body); string(text) != `{"id":"call_Z9Z9Z9Z9Z9Z9Z9Z9","created":5}` {
			t.Errorf("the client got %s", text)
		}
		reply.Body.Close()
	}
	if err := proxy.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(asked, "\n"); got != `/v1/a%2Fb {"n":1}`+"\n"+`/v1/a%2Fb {"call":"call_Z9Z9Z9Z9Z9Z9Z9Z9"}` {
		t.Errorf("the server was asked %s", got)
	}
	text, err := os.ReadFile(filepath.Join(folder, "openai", "chat", "case-go.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id": "call_1"`, `"call": "call_1"`, `"created": 0`, "url: /v1/a%2Fb"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the cassette lacks %s:\n%s", want, text)
		}
	}
	for _, private := range []string{"secret", "call_Z9Z9Z9Z9Z9Z9Z9Z9", "127.0.0.1"} {
		if strings.Contains(string(text), private) {
			t.Errorf("the cassette has %s:\n%s", private, text)
		}
	}
}

// TestFormat has go-vcr read what the proxy wrote.
func TestFormat(t *testing.T) {
	all, err := cassettes.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		vcr, err := cassette.Load(filepath.Join("..", "..", "..", "cassettes", filepath.FromSlash(c.Name)))
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if len(vcr.Interactions) != len(c.Interactions) {
			t.Errorf("%s: go-vcr reads %d interactions, not %d", c.Name, len(vcr.Interactions), len(c.Interactions))
			continue
		}
		for n, i := range c.Interactions {
			v := vcr.Interactions[n]
			got := fmt.Sprint(v.Request.Method, v.Request.URL, v.Request.Headers, v.Request.Body, v.Response.Code, v.Response.Headers, v.Response.Body)
			want := fmt.Sprint(i.Request.Method, i.Request.URL, i.Request.Headers, i.Request.Body, i.Response.Code, i.Response.Headers, i.Response.Body)
			if got != want {
				t.Errorf("%s: go-vcr reads\n%s\nnot\n%s", c.Name, got, want)
			}
		}
	}
}

func TestStoreHint(t *testing.T) {
	const body = `{"error":{"message":"The model \"x\" does not exist. \"diglot list\" shows the models that are here, and \"diglot pull x\" gets this one where its registry has it.","code":"y"}}`
	const want = `{"error":{"message":"The model \"x\" does not exist.","code":"y"}}`
	if got := storeHint.ReplaceAllString(body, ""); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
