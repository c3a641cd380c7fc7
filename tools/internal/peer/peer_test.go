package peer

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// program writes a shell script.
func program(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFind(t *testing.T) {
	file := program(t, "")
	s := Server{Name: filepath.Base(file), Variable: "PEER_PROGRAM"}
	for _, tt := range []struct {
		name, named, variable, path, want string
	}{
		{"named", file, "/elsewhere", "", file},
		{"of the environment", "", file, "", file},
		{"in PATH", "", "", filepath.Dir(file), file},
		{"nowhere", "", "", t.TempDir(), ""},
	} {
		t.Setenv("PEER_PROGRAM", tt.variable)
		t.Setenv("PATH", tt.path)
		if got, err := s.Find(tt.named); err != nil || got != tt.want {
			t.Errorf("%s: %q, error %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestVersionOf(t *testing.T) {
	for _, tt := range []struct{ name, says, want string }{
		{"diglot", "echo diglot v1.2 && echo built with go1", "v1.2"},
		{"llama-server", "echo 'version: 0.5.0-dev (build 1)' >&2", "0.5.0-dev"},
		{"ollama", "echo Warning: no instance; echo 'ollama version is 0.17.4'", "0.17.4"},
		{"no version", "echo hello", ""},
		{"an error", "echo version: 1; exit 1", ""},
	} {
		got, err := Server{}.VersionOf(t.Context(), program(t, tt.says))
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, error %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestProcess(t *testing.T) {
	loading := true
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" && loading {
			loading = false
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer front.Close()
	p, err := Start(t.Context(), Command{Name: "sleeper", Program: program(t, "echo $SAID $1 >&2; exec sleep 600"), Args: []string{"argument"}, Env: []string{"SAID=variable"},
		Address: front.Listener.Addr().String(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context()); err != nil || loading {
		t.Errorf("Wait: error %v; the server loads still: %t", err, loading)
	}
	p.Stop()
	broken := errors.New("broken")
	if err := p.Explain(broken); !errors.Is(err, broken) || !strings.Contains(err.Error(), "variable argument") {
		t.Errorf("the error %v lacks what the server said", err)
	}
}

func TestProcessThatEnds(t *testing.T) {
	address, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), Command{Name: "short", Program: program(t, "exit 3"), Address: address, Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	if err := p.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v, want one with the exit status", err)
	}
}
