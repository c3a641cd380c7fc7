package contract

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/internal/cassette"
)

// command runs a command line and returns what it printed.
func command(ctx context.Context, stderr io.Writer, args ...string) (string, error) {
	var out bytes.Buffer
	for _, c := range Commands(Environment{Stdout: &out, Stderr: stderr, Getenv: func(string) string { return "" }}) {
		if c.Name() == args[0] {
			c.SilenceErrors, c.SilenceUsage = true, true
			c.SetArgs(args[1:])
			err := c.ExecuteContext(ctx)
			return out.String(), err
		}
	}
	panic("no command " + args[0]) // a mistake of the test, which has no t here
}

// TestRecord records over the whole path, and ends as by a signal.
func TestRecord(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Served-By", "test")
		io.WriteString(w, `{"id":"msg_Z9Z9Z9Z9Z9Z9Z9Z9","path":"`+r.URL.Path+`","card":"1234"}`)
	}))
	defer server.Close()
	folder := t.TempDir()
	ctx, end := context.WithCancel(t.Context())
	said, stderr := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := command(ctx, stderr, "record", "--upstream", server.URL+"/base/v1/", "--cassettes", folder, "--listen", "127.0.0.1:0",
			"--scrub", `\d{4}`, "--keep-header", "X-Served-By")
		stderr.Close()
		ended <- err
	}()
	address := listening(t, said)
	for _, tt := range []struct {
		host, path  string
		want        int
		name, value string // of a header
	}{
		{"", "/v1/messages", http.StatusOK, "", ""},
		{"", "/v1/messages", http.StatusOK, "Origin", "http://localhost:3000"},
		{"", "/v1/messages", http.StatusOK, "Sec-Fetch-Site", "same-site"},
		{"", "/v1/messages", http.StatusForbidden, "Origin", "https://evil.example"},
		{"", "/v1/messages", http.StatusForbidden, "Origin", "null"},
		{"", "/v1/messages", http.StatusForbidden, "Sec-Fetch-Site", "cross-site"},
		{"evil.example", "/v1/messages", http.StatusForbidden, "", ""},
		{"", "/record/../v1/x", http.StatusBadRequest, "", ""},
	} {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address+tt.path, strings.NewReader(`{"n":1}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = tt.host
		r.Header.Set("Diglot-Case", "a/case")
		if tt.want == http.StatusBadRequest {
			r.Header.Del("Diglot-Case")
		}
		r.Header.Set("X-Api-Key", "sk-secret-key")
		if tt.name != "" {
			r.Header.Set(tt.name, tt.value)
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
		if reply.StatusCode != tt.want {
			t.Errorf("%s %s: status %d, want %d", tt.host, tt.path, reply.StatusCode, tt.want)
		}
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	once := cassette.Interaction{
		Request: cassette.Request{Method: "POST", URL: "/v1/messages", Headers: http.Header{"User-Agent": {"Go-http-client/1.1"}}, Body: "{\n  \"n\": 1\n}"},
		Response: cassette.Response{Code: 200, Headers: http.Header{"Content-Type": {"application/json"}, "X-Served-By": {"test"}},
			Body: "{\n  \"id\": \"msg_1\",\n  \"path\": \"/base/v1/messages\",\n  \"card\": \"scrubbed\"\n}"},
	}
	want := []cassette.Cassette{{Name: "a/case", Interactions: []cassette.Interaction{once, once, once}}}
	got, err := cassette.Read(folder)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

var listeningLine = regexp.MustCompile(`listening on (http://\S+)`)

// listening waits for the address, and drains the rest.
func listening(t *testing.T, log io.Reader) string {
	t.Helper()
	text := make([]byte, 0, 1024)
	for {
		n, err := log.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if found := listeningLine.FindSubmatch(text); found != nil {
			go io.Copy(io.Discard, log)
			return string(found[1])
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
}

func TestBadCommandLines(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"record", "--cassettes", "x"}, "record: --upstream and --cassettes are required"},
		{[]string{"record", "--upstream", "http://127.0.0.1:1"}, "record: --upstream and --cassettes are required"},
		{[]string{"record", "--upstream", "127.0.0.1:8080", "--cassettes", "x"}, "record: --upstream is "},
		{[]string{"record", "--upstream", "ftp://127.0.0.1", "--cassettes", "x"}, "record: --upstream is "},
		{[]string{"record", "--upstream", "http://user:secret@127.0.0.1", "--cassettes", "x"}, "record: --upstream is "},
		{[]string{"record", "--upstream", "http://127.0.0.1:1", "--cassettes", "x", "--listen", "0.0.0.0:0"}, "record: other machines can reach "},
		{[]string{"record", "more"}, "record: unexpected argument"},
		{[]string{"diff", "one"}, "diff: want two recordings"},
	} {
		_, err := command(t.Context(), io.Discard, tt.args...)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || exit.Status(err) != exit.BadUsage {
			t.Errorf("%q: error %v, want %s", tt.args, err, tt.want)
		}
	}
}
