package recorder_test

import (
	"bufio"
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/internal/cassette/recorder"
)

// session is a proxy between a client and a server.
type session struct {
	folder  string
	front   *httptest.Server
	address string
	proxy   *recorder.Proxy
}

func record(t *testing.T, server http.HandlerFunc, change ...func(*recorder.Config)) *session {
	t.Helper()
	upstream := httptest.NewServer(server)
	t.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	config := recorder.Config{Upstream: target, Folder: t.TempDir(), Case: recorder.Named,
		Scrub: cassette.DefaultScrub(), Grace: time.Millisecond, Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&config)
	}
	s := &session{folder: config.Folder, proxy: recorder.New(config)}
	s.front = httptest.NewServer(s.proxy)
	s.address = s.front.URL
	t.Cleanup(s.front.Close)
	return s
}

// end returns what was recorded, by name.
func (s *session) end(t *testing.T) map[string][]cassette.Interaction {
	t.Helper()
	s.front.Close()
	if err := s.proxy.Close(); err != nil {
		t.Error(err)
	}
	all, err := cassette.Read(s.folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]cassette.Interaction{}
	for _, c := range all {
		found[c.Name] = c.Interactions
	}
	return found
}

// ask sends a request with headers "Name: value".
func (s *session) ask(t *testing.T, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	reply, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reply.Body.Close() })
	return reply
}

func text(t *testing.T, reply *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Error(err)
	}
	return string(body)
}

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Diglot-Case")+string(body))
}

func TestCases(t *testing.T) {
	for _, tt := range []struct{ name, path, header, want, asked string }{
		{"by header", "/v1/x?y=1", "a/b", "a/b", "/v1/x?y=1"},
		{"by path", "/record/openai/chat/c-go/v1/m/a%2Fb?y=1", "", "openai/chat/c-go", "/v1/m/a%2Fb?y=1"},
		{"by path of another API", "/record/c/api/chat", "", "c", "/api/chat"},
		{"by number", "/v1/chat/completions", "", "chat-completions/0001", "/v1/chat/completions"},
		{"by number, with signs", "/v1/models/a%2Fb:c%20d", "", "models-a-b-c-d/0001", "/v1/models/a%2Fb:c%20d"},
		{"the root by number", "/", "", "root/0001", "/"},
		{"an illegal name", "/v1/x", "../x", "", ""},
		{"a path without an end", "/record/x", "", "", ""},
	} {
		s := record(t, echo)
		var headers []string
		if tt.header != "" {
			headers = append(headers, "Diglot-Case: "+tt.header)
		}
		reply := s.ask(t, "POST", tt.path, "body", headers...)
		said, found := text(t, reply), s.end(t)
		switch {
		case tt.want == "":
			if reply.StatusCode != http.StatusBadRequest || len(found) != 0 {
				t.Errorf("%s: status %d, recorded %v", tt.name, reply.StatusCode, found)
			}
		case said != "POST "+tt.asked+" body" || len(found[tt.want]) != 1 || found[tt.want][0].Request.URL != tt.asked:
			t.Errorf("%s: the server was asked %s, recorded %v", tt.name, said, found)
		}
	}
}

func TestNameOfAFileHasNoSecret(t *testing.T) {
	s := record(t, echo)
	text(t, s.ask(t, "POST", "/v1/%61uth-token-9/x?key=auth-token-9", "body"))
	if found := s.end(t); len(found["scrubbed-x/0001"]) != 1 {
		t.Errorf("recorded %v", found)
	}
}

// TestIDs has one request of two with an id that the server gave out before: in one
// case, and in two that are numbered.
func TestIDs(t *testing.T) {
	const id = "call_Z9Z9Z9Z9Z9Z9Z9Z9"
	for _, tt := range []struct {
		name, header  string
		first, second string // where they are recorded
	}{
		{"named", "one", "one", "one"},
		{"numbered", "", "x/0001", "x/0002"},
	} {
		s := record(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"id":"`+id+`","created":5}`) })
		for _, body := range []string{`{"n":1}`, `{"call":"` + id + `"}`} {
			if got := text(t, s.ask(t, "POST", "/v1/x", body, "Diglot-Case: "+tt.header)); !strings.Contains(got, id) {
				t.Errorf("%s: the client got %s", tt.name, got)
			}
		}
		found := s.end(t)
		last := len(found[tt.second]) - 1
		if got := found[tt.first][0].Response.Body; got != "{\n  \"id\": \"call_1\",\n  \"created\": 0\n}" {
			t.Errorf("%s: the reply is recorded as %s", tt.name, got)
		}
		if got := found[tt.second][last].Request.Body; got != "{\n  \"call\": \"call_1\"\n}" {
			t.Errorf("%s: the request is recorded as %s", tt.name, got)
		}
	}
}

// TestStream wants each event to arrive before the server sends the next one.
func TestStream(t *testing.T) {
	next := make(chan struct{})
	s := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		for _, event := range []string{"data: 1\n\n", "data: 2\n\n"} {
			io.WriteString(w, event)
			w.(http.Flusher).Flush()
			<-next
		}
	})
	for _, kind := range []string{"text/event-stream", "application/x-ndjson"} {
		reply := s.ask(t, "GET", "/v1/stream?type="+kind, "", "Diglot-Case: stream")
		lines := bufio.NewReader(reply.Body)
		for _, want := range []string{"data: 1\n", "\n", "data: 2\n", "\n"} {
			if got, err := lines.ReadString('\n'); got != want || err != nil {
				t.Errorf("%s: got %q, error %v", kind, got, err)
			}
			if want == "\n" {
				next <- struct{}{}
			}
		}
		if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
			t.Errorf("%s: at the end %q, error %v", kind, rest, err)
		}
	}
	found := s.end(t)["stream"]
	if len(found) != 2 || found[0].Response.Body != "data: 1\n\ndata: 2\n\n" || found[0].Response.Headers.Get("Content-Type") != "text/event-stream" {
		t.Errorf("recorded %v", found)
	}
}

func TestBrokenOff(t *testing.T) {
	s := record(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/never" {
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, "begun")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/v1/server" {
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
	})
	if got, err := io.ReadAll(s.ask(t, "GET", "/v1/server", "", "Diglot-Case: server").Body); string(got) != "begun" || err == nil {
		t.Errorf("the client got %q, error %v", got, err)
	}
	if got := s.ask(t, "GET", "/v1/never", "", "Diglot-Case: never").StatusCode; got != http.StatusBadGateway {
		t.Errorf("status %d without a reply", got)
	}
	left := s.ask(t, "GET", "/v1/client", "", "Diglot-Case: client")
	if _, err := io.ReadFull(left.Body, make([]byte, 5)); err != nil {
		t.Error(err)
	}
	left.Body.Close()
	found := s.end(t)
	want := map[string][]cassette.Interaction{"server": {{
		Request:  cassette.Request{Method: "GET", URL: "/v1/server", Headers: http.Header{"User-Agent": {"Go-http-client/1.1"}}},
		Response: cassette.Response{Code: 200, Headers: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: "begun", Aborted: true},
	}}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +recorded):\n%s", diff)
	}
}

// TestEarlyClients leave at the last event.
func TestEarlyClients(t *testing.T) {
	left := make(chan struct{})
	s := record(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: [DONE]\n\n")
		w.(http.Flusher).Flush()
		<-left
		io.WriteString(w, ": the end\n\n")
	}, func(c *recorder.Config) { c.Grace = time.Minute })
	reply := s.ask(t, "GET", "/v1/x", "", "Diglot-Case: early")
	if _, err := bufio.NewReader(reply.Body).ReadString('\n'); err != nil {
		t.Error(err)
	}
	reply.Body.Close()
	close(left)
	if found := s.end(t)["early"]; len(found) != 1 || found[0].Response.Body != "data: [DONE]\n\n: the end\n\n" || found[0].Response.Aborted {
		t.Errorf("recorded %v", found)
	}
}

func TestGzip(t *testing.T) {
	for _, tt := range []struct {
		name    string
		always  bool
		unknown string // encoding
		want    string
	}{
		{"where it is accepted", false, "", "plain text"},
		{"where nobody asked", true, "", "plain text"},
		{"an unknown encoding", false, "br", ""},
	} {
		s := record(t, func(w http.ResponseWriter, r *http.Request) {
			if tt.unknown != "" {
				w.Header().Set("Content-Encoding", tt.unknown)
			}
			if !tt.always && tt.unknown == "" && r.Header.Get("Accept-Encoding") != "gzip" {
				io.WriteString(w, "not packed")
				return
			}
			if tt.unknown == "" {
				w.Header().Set("Content-Encoding", "gzip")
			}
			packed := gzip.NewWriter(w)
			io.WriteString(packed, "plain text")
			packed.Close()
		}, func(c *recorder.Config) {
			if tt.always { // net/http then leaves the reply as it is
				c.Case = func(r *http.Request) (recorder.Case, error) {
					r.Header.Set("Range", "bytes=0-")
					return recorder.Case{Name: "case"}, nil
				}
			}
		})
		io.Copy(io.Discard, s.ask(t, "GET", "/v1/x", "", "Diglot-Case: case").Body)
		found := s.end(t)["case"]
		if tt.want == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || found[0].Response.Body != tt.want {
			t.Errorf("%s: recorded %v", tt.name, found)
		}
	}
}

func TestLimits(t *testing.T) {
	large := strings.Repeat("x", 100)
	for _, tt := range []struct {
		name        string
		body, reply string
		change      func(*recorder.Config)
		want        int // recorded exchanges of two
	}{
		{"within", "a", "b", func(c *recorder.Config) { c.MaxBody = 100 }, 2},
		{"a large request", large, "b", func(c *recorder.Config) { c.MaxBody = 99 }, 0},
		{"a large reply", "a", large, func(c *recorder.Config) { c.MaxBody = 99 }, 0},
		{"all are large", large, large, func(c *recorder.Config) { c.MaxBodies = 399 }, 1},
		{"all fit", large, large, func(c *recorder.Config) { c.MaxBodies = 400 }, 2},
	} {
		s := record(t, func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); string(body) != tt.body {
				t.Errorf("%s: the server got %q", tt.name, body)
			}
			io.WriteString(w, tt.reply)
		}, tt.change)
		for range 2 {
			if got := text(t, s.ask(t, "POST", "/v1/x", tt.body, "Diglot-Case: case")); got != tt.reply {
				t.Errorf("%s: the client got %q", tt.name, got)
			}
		}
		if found := s.end(t)["case"]; len(found) != tt.want {
			t.Errorf("%s: %d exchanges are recorded, want %d", tt.name, len(found), tt.want)
		}
	}
}

// TestManyAtOnce records concurrent requests of several cases.
func TestManyAtOnce(t *testing.T) {
	s := record(t, echo)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for _, name := range []string{"a", "b", ""} {
				text(t, s.ask(t, "POST", "/v1/x", name, "Diglot-Case: "+name))
			}
		})
	}
	clients.Wait()
	found := s.end(t)
	if len(found["a"]) != 8 || len(found["b"]) != 8 || len(found) != 10 || len(found["x/0008"]) != 1 {
		t.Errorf("recorded %d cases: %v", len(found), found)
	}
}

func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := record(t, echo, func(c *recorder.Config) { c.Folder = file })
	if got := text(t, s.ask(t, "POST", "/v1/x", "body")); got != "POST /v1/x body" {
		t.Errorf("the client got %q", got)
	}
	s.front.Close()
	if err := s.proxy.Close(); err == nil {
		t.Error("nothing was written, and Close says nothing")
	}
}
