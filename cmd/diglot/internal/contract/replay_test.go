package contract

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/diglot/diglot/cmd/diglot/internal/replay"
	"github.com/diglot/diglot/cmd/diglot/internal/replay/fault"
	"github.com/diglot/diglot/internal/cassette"
)

// output finds the address in what a command prints.
type output struct{ address chan string }

var listensOn = regexp.MustCompile(`^listening on (http://[0-9.:]+)`)

func (o output) Write(b []byte) (int, error) {
	if found := listensOn.FindSubmatch(b); found != nil {
		o.address <- string(found[1])
	}
	return len(b), nil
}

// start runs replay until the test ends and returns its address.
func start(t *testing.T, args ...string) string {
	t.Helper()
	out := output{make(chan string, 1)}
	c := newReplay(Environment{Stderr: out, Getenv: func(string) string { return "" }})
	c.SetArgs(append([]string{"--listen", "127.0.0.1:0"}, args...))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case address := <-out.address:
		return address
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return ""
}

func ask(t *testing.T, method, url, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text), reply.Header
}

const chat = `{"model":"m","messages":[{"role":"user","content":"Never recorded."}]}`

// TestReplay runs the command with all of its flags.
func TestReplay(t *testing.T) {
	folder := t.TempDir()
	mine := cassette.Cassette{Name: "mine", Interactions: []cassette.Interaction{{
		Request:  cassette.Request{Method: "POST", URL: "/v1/chat/completions", Body: `{"mine":1}`},
		Response: cassette.Response{Code: 200, Headers: http.Header{"Content-Type": {"application/json"}}, Body: `{"yours":2}`},
	}}}
	if err := cassette.Write(folder, mine); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(folder, "rules.txt")
	if err := os.WriteFile(rules, []byte("faults: [{fault: status=503, model: flaky, times: 1}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := start(t, "--cassettes", folder, "--faults", rules, "--model", "m", "--only-models", "--pace", "1000", "--api-key", "secret", "--profile", "document", "--strict")
	if status, body, _ := ask(t, "GET", base+"/health", ""); status != 200 || body != `{"status":"ok"}`+"\n" {
		t.Errorf("health: %d %s", status, body)
	}
	if status, body, _ := ask(t, "GET", base+"/docs/", ""); status != 200 || !strings.Contains(body, "<html") {
		t.Errorf("the reference: %d %.100s", status, body)
	}
	key := []string{"Authorization", "Bearer secret"}
	for _, tt := range []struct {
		name, body string
		header     []string
		status     int
		want       string
	}{
		{"no key", chat, nil, 401, "invalid_api_key"},
		{"made", chat, key, 200, "Never recorded."},
		{"another model", strings.Replace(chat, `"m"`, `"n"`, 1), key, 404, "model_not_found"},
		{"a rule", strings.Replace(chat, `"m"`, `"flaky"`, 1), key, 503, "overloaded"},
		{"a header", chat, append([]string{fault.Header, "status=500"}, key...), 500, "server_error"},
		{"what is ignored", strings.Replace(chat, `{`, `{"unheard":1,`, 1), key, 400, "unheard"},
	} {
		if status, body, _ := ask(t, "POST", base+"/v1/chat/completions", tt.body, tt.header...); status != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s", tt.name, status, body)
		}
	}
	usual := start(t, "--cassettes", folder)
	if status, body, header := ask(t, "POST", usual+"/v1/chat/completions", `{"mine": 1}`); status != 200 || body != `{"yours":2}`+"\n" || header.Get("Diglot-Replay") != "recorded mine" {
		t.Errorf("a recording: %d %s %v", status, body, header)
	}
	if status, body, header := ask(t, "GET", usual+"/v1/models", ""); status != 200 || !strings.HasPrefix(header.Get("Diglot-Replay"), "recorded openai/models/list-") {
		t.Errorf("recorded models: %d %s %v", status, body, header)
	}
	named := start(t, "--model", "gpt-5")
	if status, body, header := ask(t, "GET", named+"/v1/models", ""); status != 200 || header.Get("Diglot-Replay") != "mock" || !strings.Contains(body, `"id":"gpt-5"`) {
		t.Errorf("named models: %d %s %v", status, body, header)
	}
	if status, _, header := ask(t, "GET", usual+"/v1/models/any", ""); status != 200 || header.Get("Diglot-Replay") != "mock" {
		t.Errorf("any model: %d %v", status, header)
	}
}

func TestReplayRefuses(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--pace 0", "want a number of events per second"},
		{"--pace 2m", "want a number of events per second"},
		{"--pace -3", "want a number of events per second"},
		{"--profile strict", `--profile is "strict"`},
		{"--listen here", "not HOST:PORT"},
		{"--allow-origin here", "replay: --allow-origin is"},
		{"--allow-host http://h", "replay: --allow-host is"},
		{"--max-body 64MiB --max-bodies 1MiB", "replay: --max-bodies is too small"},
		{"--faults missing.yaml", "--faults: open missing.yaml"},
		{"--cassettes missing", "--cassettes: stat missing"},
		{"--listen 0.0.0.0:0", "replay: other machines can reach"},
		{"model", "unexpected argument"},
	} {
		c := newReplay(Environment{Stderr: io.Discard, Getenv: func(string) string { return "" }})
		c.SilenceErrors, c.SilenceUsage = true, true
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		c.SetArgs(strings.Fields(tt.args))
		if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", tt.args, err, tt.want)
		}
	}
}

// TestReplayCannotStart holds that the command ends if it cannot answer.
func TestReplayCannotStart(t *testing.T) {
	broken := errors.New("a document is broken")
	o := replayOptions{open: func(replay.Config) (http.Handler, error) { return nil, broken }}
	o.Listen = "127.0.0.1:0"
	if err := o.serve(t.Context(), Environment{Stderr: io.Discard, Getenv: func(string) string { return "" }}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// TestReplayHelp holds that the faults and the rules of the help are understood.
func TestReplayHelp(t *testing.T) {
	c := newReplay(Environment{})
	indented := regexp.MustCompile(`(?m)^ {4}(\S.*| {2,}\S.*)\n?`).FindAllString(c.Long, -1)
	text := ""
	for _, line := range indented {
		if after, ok := strings.CutPrefix(line, "    "); ok {
			text += after
		}
	}
	_, yaml, _ := strings.Cut(text, "seed:")
	if _, err := fault.Load([]byte("seed:" + yaml)); err != nil {
		t.Errorf("%v\n%s", err, yaml)
	}
	shown := regexp.MustCompile(`(?m)^  ([a-z]+[=;][a-z0-9=;._-]+) `).FindAllStringSubmatch(c.Long, -1)
	if len(shown) < 6 {
		t.Errorf("%d faults in the help", len(shown))
	}
	for _, s := range shown {
		if _, err := fault.Parse(s[1]); err != nil {
			t.Errorf("%s: %v", s[1], err)
		}
	}
}
