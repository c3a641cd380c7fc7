package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
	"github.com/diglot/diglot/engine/models/library"
	"github.com/diglot/diglot/engine/models/store"
)

func get(t *testing.T, url string) string {
	t.Helper()
	reply, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestAliasInEveryEndpoint gives a model the name that clients expect. Each
// reply names what was asked for.
func TestAliasInEveryEndpoint(t *testing.T) {
	u := newUser(t)
	u.far()
	u.must("cp", "far", "gpt-4o")
	url, _ := u.serve("--load", "far")
	askEverywhere(t, url, "gpt-4o", `"content":"hi"`)
	var loaded []struct{ Name string }
	if err := json.Unmarshal([]byte(u.must("ps", "--json")), &loaded); err != nil || len(loaded) != 1 || loaded[0].Name != "far" {
		t.Errorf("loaded %+v, error %v; the names share one", loaded, err)
	}
}

// askEverywhere asks a model in every endpoint that makes text. message is the
// content of the one message.
func askEverywhere(t *testing.T, url, model, message string) {
	t.Helper()
	conversation := `"messages":[{"role":"user",` + message + `}]`
	for _, tt := range []struct{ path, body, want string }{
		{"/v1/chat/completions", `"max_tokens":2,` + conversation, `"model":"%s"`},
		{"/v1/chat/completions", `"max_tokens":2,"stream":true,` + conversation, `"model":"%s"`},
		{"/v1/completions", `"max_tokens":2,"prompt":"hi"`, `"model":"%s"`},
		{"/v1/completions", `"max_tokens":2,"stream":true,"prompt":"hi"`, `"model":"%s"`},
		{"/v1/responses", `"max_output_tokens":16,"input":"hi"`, `"model":"%s"`},
		{"/v1/responses", `"max_output_tokens":16,"stream":true,"input":"hi"`, `"model":"%s"`},
		{"/v1/messages", `"max_tokens":2,` + conversation, `"model":"%s"`},
		{"/v1/messages", `"max_tokens":2,"stream":true,` + conversation, `"model":"%s"`},
	} {
		reply := post(t, url+tt.path, fmt.Sprintf(`{"model":%q,%s}`, model, tt.body))
		body, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode != http.StatusOK || !strings.Contains(string(body), fmt.Sprintf(tt.want, model)) {
			t.Errorf("%s %s\nstatus %d, error %v:\n%s", tt.path, tt.body, reply.StatusCode, err, body)
		}
	}
	for _, name := range []string{model, model + ":latest"} {
		if got := get(t, url+"/v1/models/"+name); !strings.Contains(got, fmt.Sprintf(`"id":"%s"`, model)) {
			t.Errorf("model %q: %s", name, got)
		}
	}
}

// TestWrongNamesInEveryEndpoint asks for what is no name of a model.
func TestWrongNamesInEveryEndpoint(t *testing.T) {
	u := newUser(t)
	u.model("m", "")
	url, _ := u.serve()
	for _, name := range []string{"../../x", "a/../../b", "/etc/passwd", `a\b`, "a\x00b", "модель", strings.Repeat("a", 5000)} {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		for path, rest := range map[string]string{
			"/v1/chat/completions":      `"messages":[{"role":"user","content":"hi"}]`,
			"/v1/completions":           `"prompt":"hi"`,
			"/v1/responses":             `"input":"hi"`,
			"/v1/embeddings":            `"input":"hi"`,
			"/v1/images/generations":    `"prompt":"hi"`,
			"/v1/messages":              `"max_tokens":1,"messages":[{"role":"user","content":"hi"}]`,
			"/v1/messages/count_tokens": `"messages":[{"role":"user","content":"hi"}]`,
		} {
			reply := post(t, url+path, fmt.Sprintf(`{"model":%s,%s}`, quoted, rest))
			body, err := io.ReadAll(reply.Body)
			if err != nil || reply.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "in the model name") && !strings.Contains(string(body), "The model name") {
				t.Errorf("%s, model %.20q: status %d, error %v:\n%s", path, name, reply.StatusCode, err, body)
			}
		}
	}
	for _, path := range []string{"..%2F..%2Fx", "a%5Cb", "a%00b"} {
		if got := get(t, url+"/v1/models/"+path); !strings.Contains(got, "model name") || !strings.Contains(got, "invalid_request_error") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestHostThatIsNotAllowed has the definition of a model name a host that the
// user knows nothing of.
func TestHostThatIsNotAllowed(t *testing.T) {
	u := newUser(t)
	u.far()
	url, _ := u.serve()
	host := strings.Fields(u.must("login"))[2] // below HOST and KEY
	u.must("logout", host)
	reply := post(t, url+"/v1/chat/completions", `{"model":"far","messages":[{"role":"user","content":"hi"}]}`)
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "diglot login "+host) {
		t.Errorf("status %d, error %v:\n%s", reply.StatusCode, err, body)
	}
	u.must("login", host, "--no-key")
	reply = post(t, url+"/v1/chat/completions", `{"model":"far","messages":[{"role":"user","content":"hi"}]}`)
	if reply.StatusCode != http.StatusOK {
		t.Errorf("after login: status %d", reply.StatusCode)
	}
}

func TestSockets(t *testing.T) {
	u := newUser(t)
	script := u.write("script.yaml", twoModels)
	first, _ := u.serve("--script", script)
	second, _ := u.serve("--script", script)
	if first == second {
		t.Fatal("both listen at the same address")
	}
	u.must("ps")
	for _, tt := range []struct {
		name, path, want string
	}{
		{"of another server", filepath.Join(u.home, ".diglot", "diglot.sock"), "a server is running already"},
		{"that cannot be", filepath.Join(u.home, "script.yaml"), "is not a socket"},
	} {
		status, _, stderr := u.do("serve", "--listen", "127.0.0.1:0", "--script", script, "--socket", tt.path)
		if status != 1 || !strings.Contains(stderr, tt.want) {
			t.Errorf("a socket %s: status %d, %s", tt.name, status, stderr)
		}
	}
	other := newUser(t)
	other.serve("--script", script, "--socket", "none")
	if status, _, _ := other.do("ps"); status != exit.NoServer {
		t.Errorf("without a socket: status %d", status)
	}
}

// TestCommandsForModelsOfFlags names a model to commands that is not in the
// store.
func TestCommandsForModelsOfFlags(t *testing.T) {
	u := newUser(t)
	u.serve("--script", u.write("script.yaml", twoModels), "--load", "m")
	u.must("load", "m")
	if status, _, stderr := u.do("stop", "m"); status != 1 || !strings.Contains(stderr, "cannot be unloaded") {
		t.Errorf("stop: status %d, %s", status, stderr)
	}
	for command, want := range map[string]string{"load": "diglot pull n", "stop": `The model "n" is not loaded.`} {
		if status, _, stderr := u.do(command, "n"); status != exit.NotFound || !strings.Contains(stderr, want) {
			t.Errorf("%s of what nobody has: status %d, %s", command, status, stderr)
		}
	}
}

// serveFile serves a file under the name m, as a flag does, in processes that play
// a script.
func serveFile(t *testing.T, o libraryOptions) (*engines, string) {
	t.Helper()
	u := newUser(t)
	e := u.scripted(nil, o, "m")
	return e, serveEngine(t, e.all)
}

// scripted serves the models of a store, and a file under the names, as flags do, in
// processes that play a script.
func (u *user) scripted(models *store.Store, o libraryOptions, names ...string) *engines {
	t := u.t
	t.Helper()
	path := u.made("tiny.gguf", inspectiontest.Recipe{Architecture: "llama"})
	var files process.Files
	for _, name := range names {
		files = append(files, library.File{Name: name, Path: path})
	}
	env, log := u.environment(nil, nil), slog.New(slog.DiscardHandler)
	config, err := libraryConfig(env, models, files, process.Limits{Context: 64}, o, log)
	if err != nil {
		t.Fatal(err)
	}
	command := []string{os.Args[0], "scripted", u.write("script.yaml", `models: {m: {context: 64, replies: [{pieces: [hello]}, {pieces: [hello]}, {pieces: [hello]}]}}`)}
	config.Start = func(ctx context.Context, l library.Launch) (library.Instance, error) {
		return process.Start(ctx, process.Config(env.getenv, log), l, command)
	}
	e := &engines{library: library.New(config), models: models}
	e.all = joined(nil, e.library)
	t.Cleanup(func() { _ = e.close() })
	return e
}

func TestOneNameInTwoForms(t *testing.T) {
	files := process.Files{{Name: "m"}, {Name: "library/m:latest"}}
	if err := checkNames(t.Context(), files, nil); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("error %v", err)
	}
}

// TestFilesBesideTheStore has a file of a flag hide a model of the store, which has a copy.
func TestFilesBesideTheStore(t *testing.T) {
	u := newUser(t)
	u.far()
	u.must("cp", "far", "copy")
	models, err := openStore(u.environment(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	e := u.scripted(models, libraryOptions{keepAlive: -1}, "far", "my model")
	u.control(e)
	names := func() string {
		var all []string
		var loaded []control.Model
		if err := json.Unmarshal([]byte(u.must("ps", "--json")), &loaded); err != nil {
			t.Fatal(err)
		}
		for _, m := range loaded {
			if !m.Stopping {
				all = append(all, m.Name)
			}
		}
		return strings.Join(all, ", ")
	}
	for _, tt := range []struct {
		load, command []string
		said, left    string
	}{
		{[]string{"copy", "far"}, []string{"stop", "library/far", "copy"}, "stopped far\nstopped copy\n", ""},
		{[]string{"far", "my model"}, []string{"stop", "far", "my model"}, "stopped far\nstopped my model\n", ""},
		{[]string{"my model"}, []string{"stop", "my model"}, "stopped my model\n", ""},
		{[]string{"copy", "far"}, []string{"rm", "copy"}, "removed copy\n", "far"},
		{[]string{"far"}, []string{"rm", "far"}, "removed far\n", "far"},
	} {
		for _, name := range tt.load {
			if err := e.Load(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		status, _, said := u.do(tt.command...)
		if status != 0 || said != tt.said || names() != tt.left {
			t.Errorf("%q: status %d, %q; want %q, and %q loaded, not %q", tt.command, status, said, tt.said, tt.left, names())
		}
	}
}

// control serves the commands.
func (u *user) control(e *engines) {
	u.t.Helper()
	l, err := control.Listen(filepath.Join(u.home, ".diglot", "diglot.sock"))
	if err != nil {
		u.t.Fatal(err)
	}
	s := &http.Server{Handler: control.New(control.Config{
		Library: e,
		API:     http.NotFoundHandler(),
		Paced:   func(h http.Handler) http.Handler { return h },
		Log:     slog.New(slog.DiscardHandler),
	})}
	go func() { _ = s.Serve(l) }()
	u.t.Cleanup(func() { _ = s.Close() })
}

// sayHello asks the model m.
func sayHello(t *testing.T, url string) {
	t.Helper()
	reply := post(t, url+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK || !strings.Contains(string(body), "hello") {
		t.Errorf("status %d, error %v:\n%s", reply.StatusCode, err, body)
	}
}

// TestFileOfAFlag lists a file that a flag names while it is loaded, and stops it.
func TestFileOfAFlag(t *testing.T) {
	e, url := serveFile(t, libraryOptions{keepAlive: -1})
	if got := get(t, url+"/v1/models"); !strings.Contains(got, `"id":"m"`) || !strings.Contains(got, `"created":1`) {
		t.Errorf("models: %s", got)
	}
	if got := e.Loaded(); got != nil {
		t.Errorf("before it is loaded: %+v", got)
	}
	sayHello(t, url)
	got := e.Loaded()
	if len(got) != 1 || got[0].Name != "m" || got[0].Size == 0 || got[0].Context != 64 || got[0].Digest != "" {
		t.Errorf("loaded: %+v", got)
	}
	if err := e.Stop(t.Context(), "m:latest"); err != nil {
		t.Error(err)
	}
	waitForNone(e)
	if err := e.Stop(t.Context(), "m"); !exit.HasCode(err, engine.CodeModelNotFound) {
		t.Errorf("stopped twice: %v", err)
	}
	sayHello(t, url)
}

// TestFileOfAFlagIsUnloaded asks a file twice, after each of which nobody uses it.
func TestFileOfAFlagIsUnloaded(t *testing.T) {
	e, url := serveFile(t, libraryOptions{keepAlive: 1})
	for range 2 {
		sayHello(t, url)
		waitForNone(e)
	}
}

// TestFileOfAFlagNeverFits has less memory than the file needs.
func TestFileOfAFlagNeverFits(t *testing.T) {
	_, url := serveFile(t, libraryOptions{memory: flagvalue.MinMemory})
	reply := post(t, url+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "memory") {
		t.Errorf("status %d, error %v:\n%s", reply.StatusCode, err, body)
	}
}

// waitForNone waits until no model is loaded.
func waitForNone(e *engines) {
	for len(e.Loaded()) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestSystemdSockets hands on two sockets, as systemd does.
func TestSystemdSockets(t *testing.T) {
	dir := newUser(t).home
	tcp, errTCP := net.Listen("tcp", "127.0.0.1:0")
	unix, errUnix := net.Listen("unix", filepath.Join(dir, "public"))
	if errTCP != nil || errUnix != nil {
		t.Fatal(errTCP, errUnix)
	}
	tcpFile, errTCP := tcp.(*net.TCPListener).File()
	unixFile, errUnix := unix.(*net.UnixListener).File()
	if errTCP != nil || errUnix != nil {
		t.Fatal(errTCP, errUnix)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `LISTEN_PID=$$ exec "$0" serve --script "$1"`, os.Args[0], write(t, "script.yaml", twoModels))
	cmd.Env = []string{"LISTEN_FDS=2", "HOME=" + dir}
	cmd.ExtraFiles = []*os.File{tcpFile, unixFile}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	// The sockets listen already: what connects waits for the server.
	if got := get(t, "http://"+tcp.Addr().String()+"/v1/models"); !strings.Contains(got, `"id":"m"`) {
		t.Errorf("over TCP: %s", got)
	}
	overUnix := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", unix.Addr().String())
	}}}
	reply, err := overUnix.Get("http://localhost/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if body, err := io.ReadAll(reply.Body); err != nil || !strings.Contains(string(body), `"id":"m"`) {
		t.Errorf("over a Unix socket: %s, error %v", body, err)
	}
}

// TestStoreWithAComma has a directory whose name the command line of a runner
// cannot hold.
func TestStoreWithAComma(t *testing.T) {
	u := newUser(t)
	u.variables["DIGLOT_MODELS"] = filepath.Join(u.home, "a,b")
	status, _, stderr := u.do("serve", "--listen", "127.0.0.1:0")
	if status != 1 || !strings.Contains(stderr, "has a comma in its path") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
