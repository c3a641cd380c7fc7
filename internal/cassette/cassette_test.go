package cassette_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/internal/cassette"
)

func TestNormaliser(t *testing.T) {
	var n cassette.Normaliser
	for _, tt := range []struct {
		name, in, want string
		normalise      func(string) string
	}{
		{"ids are numbered by kind", `{"id":"chatcmpl-AB12AB12AB12AB12","tool":"call_X9X9X9X9X9X9X9X9"}`, `{"id":"chatcmpl-1","tool":"call_1"}`, n.Reply},
		{"an id keeps its number", `{"tool":"call_X9X9X9X9X9X9X9X9"}`, `{"tool":"call_1"}`, n.Reply},
		{"another id gets the next", `{"tool":"call_Y1Y1Y1Y1Y1Y1Y1Y1"}`, `{"tool":"call_2"}`, n.Reply},
		{"a key is no id", `{"call_id":"call_X9X9X9X9X9X9X9X9"}`, `{"call_id":"call_1"}`, n.Reply},
		{"a short id", `{"id":"chatcmpl-123"}`, `{"id":"chatcmpl-2"}`, n.Reply},
		{"a random id", `{"id":"fTz9Xc0aaaaaaaaaaaaaaaaaaaaaaaaa"}`, `{"id":"id_1"}`, n.Reply},
		{"the name of a model is no id", `{"id":"qwen2.5-coder-0.5b"}`, `{"id":"qwen2.5-coder-0.5b"}`, n.Reply},
		{"a short word is no id", `{"id":"call","x":"call_one"}`, `{"id":"call","x":"call_one"}`, n.Reply},
		{"times are zero", `{"created": 1795832545,"created_at":"2026-11-28T02:00:00Z"}`, `{"created": 0,"created_at":"1970-01-01T00:00:00Z"}`, n.Reply},
		{"times of responses are zero", `{"id":"resp_Z9Z9Z9Z9Z9Z9Z9Z9","created_at":1795832545,"completed_at": 1795832546}`, `{"id":"resp_1","created_at":0,"completed_at": 0}`, n.Reply},
		{"durations are zero", `{"prompt_ms":12.5,"predicted_per_second":1.25e+2,"total_duration":99}`, `{"prompt_ms":0,"predicted_per_second":0,"total_duration":0}`, n.Reply},
		{"a request has the ids of replies", `{"tool_call_id":"call_Y1Y1Y1Y1Y1Y1Y1Y1"}`, `{"tool_call_id":"call_2"}`, n.Request},
		{"an id in a text", `{"text":"\ncall_Y1Y1Y1Y1Y1Y1Y1Y1."}`, `{"text":"\ncall_2."}`, n.Request},
		{"a client's own id stays", `{"tool_use_id":"toolu_mine"}`, `{"tool_use_id":"toolu_mine"}`, n.Request},
	} {
		if got := tt.normalise(tt.in); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	headers := http.Header{"X-Request-Id": {"7f0c"}}
	n.Headers(headers)
	if got := headers.Get("X-Request-Id"); got != "req_1" {
		t.Errorf("the id in the header is %s", got)
	}
	var again cassette.Normaliser
	const normal = `{"id":"chatcmpl-1","calls":[{"id":"call_1"},{"id":"call_2"}],"created":0}`
	if got := again.Reply(normal); got != normal {
		t.Errorf("what is normalised changes to %s", got)
	}
}

func TestScrub(t *testing.T) {
	const key = "sk-very-secret-0123"
	i := cassette.Interaction{
		Request: cassette.Request{
			Method: "POST", URL: "http://somewhere:1/v1/a%2Fb?beta=true&api_key=other-secret-9&key=" + key,
			Headers: http.Header{"Authorization": {"Bearer " + key}, "Cookie": {"session=cookie-secret"}, "Openai-Organization": {"org-personal1"},
				"User-Agent": {"client/1 ((Linux; x64)) more/2 (me)"}, "Accept": {"*/*"}, "X-Api-Key": {"none"}, "X-Custom": {"mine"}},
			Body: `{"a":"` + key + `","b":"none","c":"4111 1111","d":"org-personal1"}`,
		},
		Response: cassette.Response{Code: 401, Headers: http.Header{"Set-Cookie": {"id=reply-secret; Path=/"}, "Content-Type": {"text/plain"}},
			Body: "Incorrect API key provided: " + key + ", other-secret-9, cookie-secret, reply-secret."},
	}
	scrub := cassette.DefaultScrub()
	scrub.Bodies = []*regexp.Regexp{regexp.MustCompile(`\d{4} \d{4}`)}
	want := cassette.Interaction{
		Request: cassette.Request{
			Method: "POST", URL: "/v1/a%2Fb?beta=true&api_key=scrubbed&key=scrubbed",
			Headers: http.Header{"User-Agent": {"client/1 more/2"}, "Accept": {"*/*"}},
			Body:    `{"a":"scrubbed","b":"none","c":"scrubbed","d":"scrubbed"}`,
		},
		Response: cassette.Response{Code: 401, Headers: http.Header{"Content-Type": {"text/plain"}},
			Body: "Incorrect API key provided: scrubbed, scrubbed, scrubbed, scrubbed."},
	}
	if diff := cmp.Diff(want, scrub.Apply(i)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKey(t *testing.T) {
	first := cassette.Request{Method: "POST", URL: "/v1/a%2Fb?x=1&y=2", Body: `{"a":1.0,"b":["\u00fc",12345678901234567890]}`}
	for _, tt := range []struct {
		name   string
		second cassette.Request
		same   bool
	}{
		{"the same", first, true},
		{"other order and spelling", cassette.Request{Method: "POST", URL: "/v1/a%2Fb?y=2&x=1", Body: "{\n\"b\": [\"ü\", 12345678901234567890], \"a\": 1}"}, true},
		{"other headers", cassette.Request{Method: "POST", URL: first.URL, Headers: http.Header{"Accept": {"x"}}, Body: first.Body}, true},
		{"other method", cassette.Request{Method: "PUT", URL: first.URL, Body: first.Body}, false},
		{"other path", cassette.Request{Method: "POST", URL: "/v1/a/b?x=1&y=2", Body: first.Body}, false},
		{"other query", cassette.Request{Method: "POST", URL: "/v1/a%2Fb?x=1", Body: first.Body}, false},
		{"other number", cassette.Request{Method: "POST", URL: first.URL, Body: strings.ReplaceAll(first.Body, "890", "891")}, false},
		{"other order of a list", cassette.Request{Method: "POST", URL: first.URL, Body: `{"a":1.0,"b":[12345678901234567890,"ü"]}`}, false},
	} {
		if same := cassette.Key(first) == cassette.Key(tt.second); same != tt.same {
			t.Errorf("%s: same %t, want %t", tt.name, same, tt.same)
		}
	}
	if plain, other := (cassette.Request{Body: "a b"}), (cassette.Request{Body: "a  b"}); cassette.Key(plain) == cassette.Key(other) {
		t.Error("texts that are not JSON match by more than their bytes")
	}
}

func TestWriteAndRead(t *testing.T) {
	folder := t.TempDir()
	want := []cassette.Cassette{
		{Name: "a/plain", Interactions: []cassette.Interaction{{
			Request:  cassette.Request{"POST", "/v1/x", http.Header{"Accept": {"a", "b"}}, "{\n  \"n\": 1\n}"},
			Response: cassette.Response{200, http.Header{"Content-Type": {"text/event-stream"}}, "data: {}\n\n", false},
		}}},
		{Name: "b", Interactions: []cassette.Interaction{{
			Request:  cassette.Request{"GET", "/", http.Header{}, ""},
			Response: cassette.Response{500, http.Header{}, "\x00\xff\r\n # no: yaml", true},
		}}},
	}
	for n, text := range []string{"\t<html>\n<h1>\n", "\n\ndata: {}\n\n", "\n\t<html>\n", "\n", " \n x", "\r\na", "a\n\tb\n"} {
		want = append(want, cassette.Cassette{Name: fmt.Sprintf("c/%d", n), Interactions: []cassette.Interaction{{
			Request:  cassette.Request{"GET", "/", http.Header{}, text},
			Response: cassette.Response{502, http.Header{}, text, false},
		}}})
	}
	slices.SortFunc(want, func(a, b cassette.Cassette) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range want {
		if err := cassette.Write(folder, c); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []string{"note.txt", ".hidden.yaml", ".b.yaml-123"} {
		if err := os.WriteFile(filepath.Join(folder, other), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := cassette.Read(folder)
	if diff := cmp.Diff(want, all); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	one, err := cassette.Read(filepath.Join(folder, "a", "plain.yaml"))
	if err != nil || len(one) != 1 || one[0].Name != "plain" {
		t.Errorf("one file: %v, error %v", one, err)
	}
}

func TestIllegalNames(t *testing.T) {
	for _, name := range []string{"", "/a", "a/", "../a", "a/../b", ".a", "a b", "a\\b", "C:a", "a//b", "-a", strings.Repeat("a", 201), "a/b/c/d/e/f/g/h/i"} {
		if err := cassette.Write(t.TempDir(), cassette.Cassette{Name: name}); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
	if err := cassette.CheckName("openai/chat/plain-python_3.1"); err != nil {
		t.Error(err)
	}
}

const status200 = "version: 2\ninteractions: [{response: {code: 200}}]\n"

func TestBadFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"not YAML", "a: [", "f.yaml: yaml: "},
		{"something else", "models: []\n", `f.yaml: not a cassette: want "version: 2"`},
		{"a status that is none", strings.Replace(status200, "200", "1000", 1), "f.yaml: interaction 0: the status of the reply is 1000"},
		{"no status", strings.Replace(status200, "200", "0", 1), "f.yaml: interaction 0: "},
		{"a status below zero", strings.Replace(status200, "200", "-1", 1), "f.yaml: interaction 0: "},
		{"a status that is no reply", strings.Replace(status200, "200", "101", 1), "f.yaml: interaction 0: "},
		{"an older version", "version: 1\ninteractions: []\n", "f.yaml: not a cassette"},
	} {
		_, err := cassette.ReadFS(fstest.MapFS{"f.yaml": {Data: []byte(tt.text)}}, ".")
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestWriteSweeps(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{".a.yaml-123", ".a.yaml-b.yaml-4"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := cassette.Write(folder, cassette.Cassette{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, ".*"))
	if want := []string{filepath.Join(folder, ".a.yaml-b.yaml-4")}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%q are left, want %q", left, want)
	}
}

func TestLimitOfIDs(t *testing.T) {
	var n cassette.Normaliser
	var body strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&body, "call_%020d ", i)
	}
	n.Reply(body.String())
	got := n.Request("call_00000000000000000000 call_00000000000000009999 call_00000000000000010000")
	if want := "call_1 call_10000 call_00000000000000010000"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	n.Reply("call_00000000000000010000")
	if allocated := testing.AllocsPerRun(10, func() { n.Request("call_x") }); allocated > 10 {
		t.Errorf("%v allocations for a request: its ids are sorted again", allocated)
	}
}
