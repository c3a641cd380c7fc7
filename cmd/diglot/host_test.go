package main

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/build"
	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
)

// serveLogged is serve with what the server has written to its log.
func (u *user) serveLogged(args ...string) (log func() string) {
	u.t.Helper()
	path := filepath.Join(u.home, "trace")
	u.serve(append(args, "--trace", path)...)
	return func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			u.t.Fatal(err)
		}
		return string(text)
	}
}

// TestRunSendsNothingInVain has no request of run name what the server would
// ignore.
func TestRunSendsNothingInVain(t *testing.T) {
	u := newUser(t)
	trace := u.serveLogged("--script", u.write("script.yaml", twoModels), "--strict")
	for _, args := range [][]string{{"hi"}, {"hi", "--think"}, {"hi", "--no-think"}, {"hi", "--system", "Be brief.", "--set", "temperature=0", "--set", "max_tokens=9"}} {
		if got := u.must(append([]string{"run", "m"}, args...)...); got != "Hello there\n" {
			t.Errorf("%q: answer %q", args, got)
		}
	}
	if n := strings.Count(trace(), `"operation":"createChatCompletion"`); n != 4 {
		t.Errorf("%d requests, want 4: a strict server was asked again", n)
	}
}

// TestRunTellsWhatTheServerSays has errors of the server's come through.
func TestRunTellsWhatTheServerSays(t *testing.T) {
	u := newUser(t)
	u.far()
	u.must("logout", u.hostOfFar())
	u.must("create", "tiny", "--quiet", u.made("tiny.gguf", inspectiontest.Recipe{Architecture: "llama", Meta: map[string]any{"llama.pooling_type": uint32(gguf.PoolingRank)}}))
	u.serve("--script", u.write("script.yaml", `
models:
  crashes:
    replies: [{pieces: [a], finish: crash}]
  small:
    context: 16
    replies: [{pieces: [a]}]
`))
	unloadable := "llama.cpp" // is not in this build
	if build.HasLlamacpp() {
		unloadable = `The model "tiny" cannot be loaded.` // it neither writes nor makes vectors
	}
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"a host that is not allowed", []string{"run", "far", "hi"}, 1, "which is not allowed on this server. To allow it: diglot login " + u.hostOfFar()},
		{"a model that cannot be loaded", []string{"run", "tiny", "hi"}, 1, unloadable},
		{"a crash", []string{"run", "crashes", "hi"}, 1, "process"},
		{"a prompt that is too long", []string{"run", "small", strings.Repeat("word ", 100)}, 1, "16"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, _, stderr := u.do(tt.args...)
			if status != tt.status || !strings.Contains(stderr, tt.want) || strings.Contains(stderr, "localhost") || strings.Contains(stderr, "server of the model") {
				t.Errorf("status %d: %s; want %d with %q", status, stderr, tt.status, tt.want)
			}
		})
	}
}

// TestRunNotesWhatHasNoEffect says which settings the style between run and
// the server has no member for.
func TestRunNotesWhatHasNoEffect(t *testing.T) {
	u := newUser(t)
	u.serve("--script", u.write("script.yaml", twoModels))
	status, stdout, stderr := u.do("run", "m", "hi", "--set", "typical_p=0.5", "--set", "temperature=0")
	want := "typical_p has no effect: the model's server does not support it\n"
	if status != 0 || stdout != "Hello there\n" || stderr != want {
		t.Errorf("status %d, printed %q and %q; want %q", status, stdout, stderr, want)
	}
}

// hostOfFar is the host of the model far, as login lists it.
func (u *user) hostOfFar() string {
	u.t.Helper()
	_, rest, _ := strings.Cut(u.must("show", "far", "--modelfile"), "\nFROM ")
	address, _, _ := strings.Cut(rest, "\n")
	return hostOf(address)
}

// TestRunWithoutItsServer has the server end before an answer, and within
// one.
func TestRunWithoutItsServer(t *testing.T) {
	for name, status := range map[string]int{"before": exit.Failure, "within": exit.Failure, "never listens again": exit.NoServer} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			path := filepath.Join(u.home, ".diglot", "diglot.sock")
			l, err := control.Listen(path)
			if err != nil {
				t.Fatal(err)
			}
			mux := http.NewServeMux()
			mux.HandleFunc("GET /control/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version": "v1"}`) })
			mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
				if name == "never listens again" {
					w.Header().Set("Connection", "close")
					_ = l.Close()
				}
				fmt.Fprint(w, `{"data": [{"id": "m"}]}`)
			})
			mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, _ *http.Request) {
				if name == "within" {
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n")
					_ = http.NewResponseController(w).Flush()
				}
				panic(http.ErrAbortHandler) // net/http cuts the connection for it
			})
			s := httptest.NewUnstartedServer(mux)
			s.Listener = l
			s.Start()
			t.Cleanup(s.Close)
			got, _, stderr := u.do("run", "m", "hi")
			if got != status || !strings.Contains(stderr, "The diglot server has stopped. Start it with: diglot serve\n") {
				t.Errorf("status %d: %s", got, stderr)
			}
		})
	}
}

// TestOtherStore has a server serve another store than the commands use.
func TestOtherStore(t *testing.T) {
	u := newUser(t)
	u.far()
	models := filepath.Join(u.home, ".diglot", "models")
	u.serve("--script", u.write("script.yaml", twoModels))
	link := filepath.Join(u.home, "link")
	if err := os.Symlink(models, link); err != nil {
		t.Fatal(err)
	}
	registry := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("something is downloaded: %s", r.URL)
	}))
	defer registry.Close()
	elsewhere := strings.TrimPrefix(registry.URL, "http://") + "/team/far"
	for _, tt := range []struct {
		dir    string
		status int
	}{{filepath.Join(u.home, "other"), 1}, {link, 0}, {models, 0}, {u.home, 1}} {
		u.variables["DIGLOT_MODELS"] = tt.dir
		for _, args := range [][]string{{"load", "far"}, {"run", "far", "hi"}, {"run", "m", "hi"}, {"run", elsewhere, "hi"}} {
			if tt.status == 0 && args[1] == elsewhere {
				continue
			}
			want := ""
			if tt.status != 0 {
				want = fmt.Sprintf("diglot: the running server uses the model store %s, and this command %s; set DIGLOT_MODELS=%s\n", models, tt.dir, models)
			}
			status, _, stderr := u.do(args...)
			if status != tt.status || !strings.HasSuffix(stderr, want) {
				t.Errorf("%q with %s: status %d, %s", args, tt.dir, status, stderr)
			}
		}
	}
	u.variables["DIGLOT_MODELS"] = u.home
	u.must("stop", "far") // needs no store
}

// TestRunWithServerWithoutStore downloads nothing that the server would not
// find.
func TestRunWithServerWithoutStore(t *testing.T) {
	u := newUser(t)
	script := u.write("script.yaml", twoModels+"  card: {image: true}\n")
	socket := filepath.Join(u.home, "s")
	startFor(t, func(name string) string { return map[string]string{"DIGLOT_SOCKET": socket}[name] }, "--script", script)
	u.variables["DIGLOT_SOCKET"] = socket
	if got := u.must("run", "m", "hi"); got != "Hello there\n" {
		t.Errorf("answer %q", got)
	}
	path := filepath.Join(u.home, "cat.png")
	if got := u.must("run", "card", "a cat", "--set", "size=64x32", "-o", path); got != path+"\n" {
		t.Errorf("drawing prints %q", got)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if config, err := png.DecodeConfig(bytes.NewReader(file)); err != nil || config.Width != 64 || config.Height != 32 {
		t.Errorf("a file of %dx%d, error %v", config.Width, config.Height, err)
	}
	if status, _, stderr := u.do("run", "n", "hi"); status != 1 || !strings.Contains(stderr, "has no model store") || !strings.Contains(stderr, "n is not one of them") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

func TestSameFolder(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{dir, dir, true},
		{dir, link, true},
		{filepath.Join(dir, "none", "models"), filepath.Join(link, "none", "models"), true},
		{filepath.Join(dir, "none"), filepath.Join(link, "other"), false},
		{filepath.Join(dir, "none", "models"), filepath.Join(link, "other", "models"), false},
		{filepath.Join(dir, "models"), filepath.Join(dir, "none", "models"), false},
		{dir, filepath.Join(dir, "none"), false},
		{"/", "/none-of-that-name", false},
	} {
		if got := sameFolder(tt.a, tt.b); got != tt.want {
			t.Errorf("sameFolder(%q, %q) = %t", tt.a, tt.b, got)
		}
	}
}

// TestLoadNeedsALogin does not call a model ready whose host may not be asked.
func TestLoadNeedsALogin(t *testing.T) {
	u := newUser(t)
	u.far()
	host := u.hostOfFar()
	u.serve()
	u.must("logout", host)
	if status, _, stderr := u.do("load", "far"); status != 1 || !strings.Contains(stderr, "To allow it: diglot login "+host) || strings.Contains(stderr, "loaded") {
		t.Errorf("status %d, %s", status, stderr)
	}
	u.must("login", host, "--no-key")
	u.must("load", "far")
}

// TestStopOfAliases names one model by several names.
func TestStopOfAliases(t *testing.T) {
	u := newUser(t)
	u.far()
	u.must("cp", "far", "gpt-4o")
	u.serve()
	u.must("load", "far")
	u.must("load", "gpt-4o")
	status, _, stderr := u.do("stop", "gpt-4o", "far", "nope")
	want := "stopped gpt-4o\nstopped far\ndiglot: The model \"nope\" is not loaded.\n"
	if status != exit.NotFound || stderr != want {
		t.Errorf("status %d, %q; want %q", status, stderr, want)
	}
	if status, _, stderr := u.do("stop", "far"); status != exit.NotFound || stderr != "diglot: The model \"far\" is not loaded.\n" {
		t.Errorf("again: status %d, %q", status, stderr)
	}
}

func TestUntil(t *testing.T) {
	soon := time.Now().Add(time.Hour + time.Second)
	for _, tt := range []struct {
		model control.Model
		want  string
	}{
		{control.Model{Digest: "sha256:1"}, "forever"},
		{control.Model{Digest: "sha256:1", Until: &soon}, "in about an hour"},
		{control.Model{Digest: "sha256:1", Requests: 1}, "in use"},
		{control.Model{Digest: "sha256:1", Loading: true}, "loading"},
		{control.Model{Digest: "sha256:1", Stopping: true}, "stopping"},
		{control.Model{}, "forever"},
	} {
		if got := until(tt.model); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.model, got, tt.want)
		}
	}
}

// TestPsForever lists a model that stays.
func TestPsForever(t *testing.T) {
	u := newUser(t)
	u.far()
	u.serve("--keep-alive", "forever")
	u.must("load", "far")
	if got := u.must("ps"); !strings.HasSuffix(got, " forever\n") {
		t.Errorf("ps:\n%s", got)
	}
	if got := u.must("ps", "--json"); strings.Contains(got, "until") {
		t.Errorf("ps --json:\n%s", got)
	}
}
