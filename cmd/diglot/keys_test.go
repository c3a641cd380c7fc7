package main

import (
	"net/http"
	"strings"
	"testing"
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
