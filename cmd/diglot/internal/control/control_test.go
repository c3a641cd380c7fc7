package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/library"
)

// TestMain makes the test binary a server that is killed, where a test asks
// for it.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "listen" {
		_, err := Listen(os.Args[2])
		fmt.Println("listening", err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// shelf is a library that notes what it is told.
type shelf struct {
	told   []string
	err    error
	loaded []library.Loaded
}

func (s *shelf) Load(ctx context.Context, name string) error {
	s.told = append(s.told, "load "+name)
	if name == "slow" {
		<-ctx.Done()
		return engine.AsError(ctx.Err())
	}
	return s.err
}

func (s *shelf) Stop(_ context.Context, name string) error {
	s.told = append(s.told, "stop "+name)
	return s.err
}

func (s *shelf) Draws(_ context.Context, name string) (bool, error) { return name == "painter", s.err }

func (s *shelf) Folder() string { return "/models" }

func (s *shelf) Loaded() []library.Loaded { return s.loaded }

// directory is a short one: the paths of sockets must be.
func directory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// open serves a shelf until the test ends.
func open(t *testing.T, s *shelf) (*Client, *bytes.Buffer) {
	t.Helper()
	path := filepath.Join(directory(t), "home", "s.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s %s at %s", r.Method, r.URL.Path, r.Host)
	})
	server := &http.Server{Handler: New(Config{Library: s, API: api, Paced: func(h http.Handler) http.Handler { return h }, Version: "v1.2.3", Log: slog.New(slog.NewTextHandler(&log, nil))})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	c := Dial(path)
	t.Cleanup(func() {
		c.Close()
		_ = server.Close()
		<-served
	})
	return c, &log
}

func TestCommands(t *testing.T) {
	until := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	s := &shelf{loaded: []library.Loaded{
		{Name: "a", Others: []string{"c", "d"}, Digest: "sha256:1", Size: 5, Context: 2048, Until: until, Requests: 0},
		{Name: "b", Digest: "sha256:2", Requests: 2, Loading: true, Stopping: true, Remote: "https://host.example/v1"},
	}}
	c, _ := open(t, s)
	models, err := c.Loaded(t.Context())
	want := []Model{
		{Name: "a", Others: []string{"c", "d"}, Digest: "sha256:1", Size: 5, Context: 2048, Until: &until},
		{Name: "b", Digest: "sha256:2", Requests: 2, Loading: true, Stopping: true, Remote: "https://host.example/v1"},
	}
	if diff := cmp.Diff(want, models); diff != "" || err != nil {
		t.Errorf("loaded, error %v (-want +got):\n%s", err, diff)
	}
	if err := errors.Join(c.Load(t.Context(), "a b/<é>"), c.Stop(t.Context(), "")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"load a b/<é>", "stop "}, s.told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if dir, err := c.Models(t.Context()); dir != "/models" || err != nil {
		t.Errorf("models %q, error %v", dir, err)
	}
	for _, name := range []string{"painter", "writer"} {
		if draws, err := c.Draws(t.Context(), name); draws != (name == "painter") || err != nil {
			t.Errorf("%s draws: %v, error %v", name, draws, err)
		}
	}
	if v, err := c.Version(t.Context()); v != "v1.2.3" || err != nil {
		t.Errorf("version %q, error %v", v, err)
	}
}

func TestErrorsOfTheServer(t *testing.T) {
	s := &shelf{err: engine.ModelNotFound("x").Because(errors.New("/secret"))}
	c, log := open(t, s)
	err := c.Load(t.Context(), "x")
	var got *Error
	if !errors.As(err, &got) || got.Code != engine.CodeModelNotFound || err.Error() != `The model "x" does not exist.` {
		t.Errorf("error %v", err)
	}
	s.err = errors.New("/secret")
	if err := c.Stop(t.Context(), "x"); err == nil || err.Error() != "Internal error." {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(log.String(), "/secret") {
		t.Errorf("the cause is not in the log: %s", log)
	}
	if err := c.call(t.Context(), http.MethodPost, "/control/fly", nil, nil); err == nil || !strings.Contains(err.Error(), "version v1.2.3, does not support POST /control/fly") {
		t.Errorf("a command that does not exist: %v", err)
	}
	if err := c.call(t.Context(), http.MethodPost, pathLoad, strings.Repeat("a", maxRequest), nil); err == nil || !strings.Contains(err.Error(), "not JSON with a model name") {
		t.Errorf("a request that is too long: %v", err)
	}
	if err := c.call(t.Context(), http.MethodGet, "/v1/x", nil, new(int)); err == nil || !strings.Contains(err.Error(), "is invalid") {
		t.Errorf("a reply that is no JSON: %v", err)
	}
}

func TestCommandIsGivenUp(t *testing.T) {
	c, _ := open(t, &shelf{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Load(ctx, "slow"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestPublicAPI(t *testing.T) {
	c, _ := open(t, &shelf{})
	reply, err := c.HTTP().Get(BaseURL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if string(body) != "GET /v1/models at localhost" || err != nil {
		t.Errorf("%q, error %v", body, err)
	}
}

func TestNotRunning(t *testing.T) {
	path := filepath.Join(directory(t), "s")
	_, err := Dial(path).Loaded(t.Context())
	if !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "no server is running (socket "+path+"); start one with: diglot serve") {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Dial(path).Load(t.Context(), "m"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("error %v", err)
	}
}

func TestListenIsPrivate(t *testing.T) {
	path := filepath.Join(directory(t), "a", "b", "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{path: fs.ModeSocket | 0o600, filepath.Dir(path): fs.ModeDir | 0o700, path + ".lock": 0o600} {
		if info, err := os.Lstat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, error %v; want %v", name, info.Mode(), err, want)
		}
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, error %v; want the lock", entries, err)
	}
}

func TestListenTwice(t *testing.T) {
	path := filepath.Join(directory(t), "s")
	first, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), path) {
		t.Errorf("the second one: error %v", err)
	}
	if conn, err := net.Dial("unix", path); err != nil {
		t.Errorf("the first one is gone: %v", err)
	} else {
		_ = conn.Close()
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	again, err := Listen(path)
	if err != nil {
		t.Fatalf("after the first one: %v", err)
	}
	_ = again.Close()
}

// TestListenAfterKill finds the socket that a killed server has left.
func TestListenAfterKill(t *testing.T) {
	path := filepath.Join(directory(t), "s")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "listen", path)
	_, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, _ := out.Read(line)
	if string(line[:n]) != "listening <nil>\n" {
		t.Fatalf("the server says %q", line[:n])
	}
	if _, err := Listen(path); !errors.Is(err, ErrRunning) {
		t.Errorf("while it lives: error %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("nothing is left: %v", err)
	}
	if _, err := Dial(path).Version(t.Context()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("the client: error %v", err)
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatalf("after its end: %v", err)
	}
	_ = l.Close()
}

func TestListenRefuses(t *testing.T) {
	dir := directory(t)
	file := filepath.Join(dir, "file")
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.WriteFile(file, []byte("precious"), 0o600), os.Mkdir(open, 0o700), os.Chmod(open, 0o770)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, path, want string }{
		{"a file in its place", file, "exists and is not a socket"},
		{"a file in place of its directory", filepath.Join(file, "s"), "create the directory of the socket"},
		{"a directory that others may write to", filepath.Join(open, "s"), "others may write to the directory"},
		{"a path that is too long", filepath.Join(dir, strings.Repeat("a", 100)), "is too long"},
	} {
		if l, err := Listen(tt.path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
			if l != nil {
				_ = l.Close()
			}
		}
	}
	if content, err := os.ReadFile(file); string(content) != "precious" || err != nil {
		t.Errorf("the file holds %q, error %v", content, err)
	}
}
