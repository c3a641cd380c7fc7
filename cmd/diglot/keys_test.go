package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
)

// TestKeys starts servers with keys from each of their places. Those of the
// command line, which others can see, are warned of.
func TestKeys(t *testing.T) {
	script := write(t, "script.yaml", `models: {m: {replies: [{pieces: [hello]}]}}`)
	file := write(t, "keys", "ann: hush-hush\n")
	for _, tt := range []struct {
		name, variable string
		args           []string
		warns          bool
		user           string // of the key, in the log
	}{
		{"a file", "", []string{"--api-key-file", file}, false, "ann"},
		{"a file, on an open address", "", []string{"--api-key-file", file, "--listen", "0.0.0.0:0"}, false, "ann"},
		{"a flag", "", []string{"--api-key", "hush-hush"}, true, "--api-key"},
		{"the environment", "hush-hush", nil, false, "DIGLOT_API_KEY"},
		{"the environment, on an open address", "hush-hush", []string{"--listen", "0.0.0.0:0"}, false, "DIGLOT_API_KEY"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			getenv := func(name string) string { return map[string]string{"DIGLOT_API_KEY": tt.variable}[name] }
			s := startFor(t, getenv, append([]string{"--script", script}, tt.args...)...)
			for key, want := range map[string]int{"hush-hush": http.StatusOK, "wrong": http.StatusUnauthorized} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(s.url, "[::]", "127.0.0.1", 1)+"/v1/models", nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("X-Api-Key", key)
				reply, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = reply.Body.Close()
				if reply.StatusCode != want {
					t.Errorf("key %s: status %d, want %d", key, reply.StatusCode, want)
				}
			}
			s.stop()
			<-s.ended
			<-s.logged
			if warns := strings.Contains(s.log.String(), "every user of this machine can see the keys of --api-key"); warns != tt.warns {
				t.Errorf("warned: %v", warns)
			}
			if !strings.Contains(s.log.String(), "key="+tt.user) || strings.Contains(s.log.String(), "hush-hush") {
				t.Errorf("the log names no user, or the key:\n%s", s.log)
			}
		})
	}
}

// TestWrongKeys has keys that were meant to keep others out, and could not.
func TestWrongKeys(t *testing.T) {
	script := write(t, "script.yaml", `models: {m: {replies: [{pieces: [hello]}]}}`)
	for _, tt := range []struct {
		name, variable string
		args           []string
		said           string
	}{
		{"a file from an empty variable", "", []string{"--api-key-file", ""}, "empty value"},
		{"an empty key", "", []string{"--api-key="}, "empty value"},
		{"a key of blanks", "", []string{"--api-key", "  "}, "has a blank"},
		{"a key with a line end", "", []string{"--api-key", "hush-hush\n"}, "has a blank"},
		{"a variable with a line end", "hush-hush\n", nil, "has a blank"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var out output
			env := environment{getenv: func(name string) string { return map[string]string{"DIGLOT_API_KEY": tt.variable}[name] }, stdin: strings.NewReader(""), stdout: &out, stderr: &out}
			args := append([]string{"serve", "--script", script, "--listen", "127.0.0.1:0", "--socket", "none"}, tt.args...)
			if code := run(ctx, args, env); code != exit.BadUsage || !strings.Contains(out.String(), tt.said) || strings.Contains(out.String(), "hush-hush") {
				t.Errorf("exit %d, want %d and %q\n%s", code, exit.BadUsage, tt.said, out.String())
			}
		})
	}
}
