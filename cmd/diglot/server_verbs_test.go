package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal/conversation"
)

// serve runs a server of this user until the test ends, and returns its URL
// and what ends it. The socket is there.
func (u *user) serve(args ...string) (url string, stop func()) {
	u.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	greeting, stdout := io.Pipe()
	var log output
	ended := make(chan int, 1)
	env := u.environment(stdout, &log)
	go func() {
		ended <- run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), env)
		_ = stdout.Close()
	}()
	stop = func() {
		cancel()
		ended <- <-ended
	}
	u.t.Cleanup(stop)
	lines := bufio.NewReader(greeting)
	if _, err := lines.ReadString('\n'); err != nil {
		u.t.Fatalf("the server ended with %d:\n%s", <-ended, log.String())
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	listening, _, _ := strings.Cut(log.String(), "\n")
	return strings.TrimPrefix(listening, "listening on "), stop
}

const twoModels = `
models:
  m:
    format: hermes
    replies:
      - when: {contains: think}
        pieces: ["<think>Hm.</think>", "Done"]
      - pieces: [Hello, " there"]
`

// far makes the model far of u one that another server has, which plays a
// script.
func (u *user) far() {
	u.t.Helper()
	other := newUser(u.t)
	url, _ := other.serve("--script", other.write("script.yaml", twoModels))
	u.must("login", url, "--no-key")
	u.must("create", "far", "--quiet", "-f", u.write("far", fmt.Sprintf("FROM %s/v1\nPARAMETER model m\n", url)))
}

// TestRun asks in this process, and through a server: it is the same.
func TestRun(t *testing.T) {
	u := newUser(t)
	u.far()
	for _, where := range []string{"in this process", "through a server"} {
		if where == "through a server" {
			u.serve()
		}
		for _, tt := range []struct {
			name, stdin string
			args        []string
			want, notes string
		}{
			{"prompt", "", []string{"run", "far", "hi"}, "Hello there\n", ""},
			{"words", "", []string{"run", "far", "hi", "you", "--set", "temperature=0"}, "Hello there\n", ""},
			{"piped", "hi\n", []string{"run", "far"}, "Hello there\n", ""},
			{"both", "some text\n", []string{"run", "far", "what is this?"}, "Hello there\n", ""},
			{"thoughts", "", []string{"run", "far", "please think"}, "Done\n", ""},
			{"times", "", []string{"run", "far", "hi", "--verbose"}, "Hello there\n", "first token:"},
		} {
			t.Run(where+"/"+tt.name, func(t *testing.T) {
				u.stdin = strings.NewReader(tt.stdin)
				status, stdout, stderr := u.do(tt.args...)
				if status != 0 || stdout != tt.want || !strings.Contains(stderr, tt.notes) || tt.notes == "" && stderr != "" {
					t.Errorf("status %d, printed %q and %q; want %q and %q", status, stdout, stderr, tt.want, tt.notes)
				}
			})
		}
	}
}

// TestRunPulls asks a model that is not here, but in a registry.
func TestRunPulls(t *testing.T) {
	registry := httptest.NewServer(newMemoryRegistry())
	defer registry.Close()
	name := strings.TrimPrefix(registry.URL, "http://") + "/team/far"
	u := newUser(t)
	u.far()
	u.must("cp", "far", name)
	u.must("push", name)
	u.must("rm", name)
	status, stdout, stderr := u.do("run", name, "hi")
	if status != 0 || stdout != "Hello there\n" || !strings.Contains(stderr, "is not on this machine; pulling it") {
		t.Errorf("status %d, printed %q and %q", status, stdout, stderr)
	}
	if got := u.must("list", "team"); !strings.Contains(got, name) {
		t.Errorf("it is not in the store:\n%s", got)
	}
	status, _, stderr = u.do("run", strings.Replace(name, "far", "none", 1), "hi")
	if status != exit.NotFound {
		t.Errorf("a model that nobody has: status %d\n%s", status, stderr)
	}
}

// TestRunOfModelOfFlag asks a model that a server has by a flag, and no store.
func TestRunOfModelOfFlag(t *testing.T) {
	u := newUser(t)
	u.serve("--script", u.write("script.yaml", twoModels))
	if got := u.must("run", "m", "hi"); got != "Hello there\n" {
		t.Errorf("answer %q", got)
	}
}

// TestTalk has a conversation over pipes, in which the slash commands do what
// the verbs do.
func TestTalk(t *testing.T) {
	u := newUser(t)
	u.far()
	u.must("cp", "far", "other")
	for _, where := range []string{"in this process", "through a server"} {
		t.Run(where, func(t *testing.T) {
			if where == "through a server" {
				u.serve()
			}
			u.stdin = strings.NewReader("hi\r/set system Be brief.\r/set max_tokens 9\r/set think off\r/save mine\r/show\r/load other\rhi\r/load mine\r/show parameters\r/load ../x\r/save ../x\r/bye\r")
			var out, log bytes.Buffer
			h, err := openHost(t.Context(), u.environment(&out, &log), transferOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer h.close()
			n, err := parseName("far")
			if err == nil {
				err = h.talk(t.Context(), n, conversation.Settings{})
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, log.String())
			}
			for what, want := range map[string]string{
				"greeting": "Loaded far. Type /help", "answer": "Hello there\r\n", "show": "Remote server", "load": "Loaded other.",
				"save": "Saved as model mine.", "wrong name": "which is a path",
				"what went before": "Loaded mine.", "one part": "num_predict 9",
			} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s: there is no %q in\n%q", what, want, out.String())
				}
			}
			if n := strings.Count(out.String(), "Hello there"); n != 3 {
				t.Errorf("Hello there came %d times, want two answers and the one that mine begins with\n%q", n, out.String())
			}
			parameters, system := u.must("show", "mine", "--parameters"), u.must("show", "mine", "--system")
			if parameters != "model m\nnum_predict 9\n" || system != "Be brief.\n" {
				t.Errorf("saved %q and %q", parameters, system)
			}
			if file := u.must("show", "mine", "--modelfile"); !strings.Contains(file, "MESSAGE assistant Hello there\n") {
				t.Errorf("saved\n%s", file)
			}
			u.must("rm", "mine")
		})
	}
	history, err := os.ReadFile(filepath.Join(u.home, ".diglot", "history"))
	if err != nil || !strings.HasPrefix(string(history), "hi\n/set system Be brief.\n") {
		t.Errorf("history %q, error %v", history, err)
	}
}

func TestServerVerbs(t *testing.T) {
	u := newUser(t)
	u.far()
	u.serve()
	if got := u.must("ps", "--json"); got != "[]\n" {
		t.Errorf("before load: %s", got)
	}
	u.must("load", "far")
	var loaded []control.Model
	if err := json.Unmarshal([]byte(u.must("ps", "--json")), &loaded); err != nil {
		t.Fatal(err)
	}
	if len(loaded) != 1 || loaded[0].Name != "far" || loaded[0].Remote == "" || loaded[0].Digest == "" {
		t.Errorf("after load: %+v", loaded)
	}
	table := regexp.MustCompile(`at 127\.0\.0\.1:\d+|in \d+ minutes`).ReplaceAllString(hexes.ReplaceAllString(u.must("ps"), "ID"), "X")
	if !regexp.MustCompile(`^NAME +ID +SIZE +CONTEXT +UNTIL\nfar +ID +X +- +X\n$`).MatchString(table) {
		t.Errorf("table:\n%s", table)
	}
	if diff := cmp.Diff("far\n:4\n", u.must("__complete", "stop", "")); diff != "" {
		t.Errorf("completion of stop (-want +got):\n%s", diff)
	}
	u.must("cp", "far", "alias")
	u.must("stop", "alias")
	if got := u.must("ps", "--json"); got != "[]\n" {
		t.Errorf("after stop: %s", got)
	}
	u.must("rm", "alias")
	for _, verb := range []string{"stop", "rm"} {
		u.must("load", "far")
		u.must(verb, "far")
		if err := json.Unmarshal([]byte(u.must("ps", "--json")), &loaded); err != nil {
			t.Fatal(err)
		}
		for _, m := range loaded {
			if !m.Stopping {
				t.Errorf("after %s there is %+v", verb, m)
			}
		}
	}
	for _, verb := range []string{"load", "stop"} {
		if status, _, stderr := u.do(verb, "far"); status != exit.NotFound {
			t.Errorf("%s of nothing: status %d\n%s", verb, status, stderr)
		}
	}
}

func TestVersionOfServer(t *testing.T) {
	u := newUser(t)
	var alone, both versionJSON
	if err := json.Unmarshal([]byte(u.must("version", "--json")), &alone); err != nil {
		t.Fatal(err)
	}
	if alone.Server != "" || alone.Version == "" || alone.Go == "" || strings.Contains(u.must("version"), "server") {
		t.Errorf("without a server: %+v", alone)
	}
	u.serve()
	if err := json.Unmarshal([]byte(u.must("version", "--json")), &both); err != nil {
		t.Fatal(err)
	}
	if both.Server == "" || !strings.Contains(u.must("version"), "\nserver "+both.Server+"\n") {
		t.Errorf("with a server: %+v", both)
	}
}
