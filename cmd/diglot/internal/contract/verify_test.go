package contract

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
)

// verifyWith runs the command.
func verifyWith(ctx context.Context, env map[string]string, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	c := newVerify(Environment{Stdout: &out, Stderr: &errs, Getenv: func(name string) string { return env[name] }})
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	err := c.ExecuteContext(ctx)
	if err != nil {
		errs.WriteString(err.Error())
	}
	return exit.Status(err), out.String(), errs.String()
}

// faulty serves replies whose sum of tokens is wrong.
func faulty(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(proxy(mockServer(t), inObject(func(o map[string]any) { add(child(o, "usage"), "total_tokens", 1) })))
	t.Cleanup(server.Close)
	return server
}

func TestVerifyFlags(t *testing.T) {
	for _, tt := range []struct {
		name, want string // part of the error
		args       []string
	}{
		{"no model", "missing --model", []string{"--base-url", "http://h"}},
		{"no URL", "--base-url is", []string{"--model", "m"}},
		{"no host", "--base-url is", []string{"--model", "m", "--base-url", "localhost:80"}},
		{"style", "--style is", []string{"--list", "--style", "x"}},
		{"profile", "--profile is", []string{"--list", "--profile", "x"}},
		{"baseline", "needs --baseline", []string{"--list", "--write-baseline"}},
		{"no such name", "no scenario has a name like", []string{"--list", "--only", "x"}},
		{"a key that is not set", "not set", []string{"--model", "m", "--base-url", "http://h", "--api-key-env", "KEY"}},
	} {
		if status, _, stderr := verifyWith(t.Context(), nil, tt.args...); status != exit.BadUsage || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit code %d, %q; want %d, %q", tt.name, status, stderr, exit.BadUsage, tt.want)
		}
	}
}

// TestVerifyHelp holds that the help says each default once.
func TestVerifyHelp(t *testing.T) {
	usage := newVerify(Environment{}).Flags().FlagUsages()
	for line := range strings.Lines(usage) {
		if strings.Count(line, "(default") > 1 {
			t.Errorf("two defaults: %s", line)
		}
	}
	if !strings.Contains(usage, "for one request (default 1m0s)") {
		t.Error("the default of --timeout is not said")
	}
}

func TestVerifyBaseline(t *testing.T) {
	server := faulty(t)
	file := filepath.Join(t.TempDir(), "known.yaml")
	run := func(args ...string) (int, string) {
		status, _, stderr := verifyWith(t.Context(), nil, append([]string{"--base-url", server.URL, "--model", model,
			"--only", "openai/chat/usage/sum", "--only", "openai/chat/ids/unique"}, args...)...)
		return status, stderr
	}
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"a failure", nil, exit.Failure, "does not keep to the documents"},
		{"enough score", []string{"--min-score", "50"}, 0, ""},
		{"too little score", []string{"--min-score", "51"}, exit.Failure, "the score is 50.0 %"},
		{"no baseline file", []string{"--baseline", file}, exit.BadUsage, "--write-baseline makes it"},
		{"written", []string{"--baseline", file, "--write-baseline"}, 0, "new failure: openai/chat/usage/sum"},
		{"known", []string{"--baseline", file}, 0, "1 known failures, 0 new"},
	} {
		if status, stderr := run(tt.args...); status != tt.status || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit code %d, %q; want %d, %q", tt.name, status, stderr, tt.status, tt.want)
		}
	}
	if err := os.WriteFile(file, []byte("openai/chat/ids/unique: long ago\n\"openai/chat/\\ex\": gone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, stderr := run("--baseline", file)
	for _, want := range []string{"new failure: openai/chat/usage/sum", "fixed, and still in the baseline: openai/chat/ids/unique", "no scenario any more: openai/chat/x"} {
		if status != exit.Failure || !strings.Contains(stderr, want) || strings.Contains(stderr, "\x1b") {
			t.Errorf("exit code %d, %q; want %q", status, stderr, want)
		}
	}
}

func TestVerifyOutputs(t *testing.T) {
	server, folder := faulty(t), t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	env := map[string]string{"KEY": "sk-secret"}
	_, stdout, stderr := verifyWith(t.Context(), env, "--base-url", server.URL, "--model", model, "--only", "openai/chat/usage/sum",
		"--api-key-env", "KEY", "--header", "X-Team: hush-hush", "--json", "--junit", in("j"), "--markdown", in("m"), "--badge", in("b"))
	var summary struct {
		Failed int `json:"failed"`
	}
	if err := json.Unmarshal([]byte(stdout), &summary); err != nil || summary.Failed != 1 {
		t.Errorf("JSON: %v, %d failed", err, summary.Failed)
	}
	all := stdout + stderr
	for file, want := range map[string]string{"j": "<testsuites", "m": "# Conformance", "b": "<svg"} {
		text, err := os.ReadFile(in(file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %.100s", file, err, text)
		}
		all += string(text)
	}
	if strings.Contains(all, "sk-secret") || strings.Contains(all, "hush") || !strings.Contains(all, "$API_KEY") {
		t.Errorf("secrets are not replaced in %s", all)
	}
}

func TestVerifyNeedsAServer(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))
	t.Cleanup(locked.Close)
	mock := httptest.NewServer(mockServer(t))
	t.Cleanup(mock.Close)
	for _, tt := range []struct {
		name, url, want string
		status          int
	}{
		{"no server", gone.URL, "no server answers", exit.NoServer},
		{"a key is wanted", locked.URL, "--api-key-env", exit.Failure},
		{"no such model", mock.URL, `no model "other"`, exit.NotFound},
	} {
		status, stdout, stderr := verifyWith(t.Context(), nil, "--base-url", tt.url, "--model", "other")
		if status != tt.status || !strings.Contains(stderr, tt.want) || stdout != "" {
			t.Errorf("%s: exit code %d, %q, %q; want %d, %q", tt.name, status, stdout, stderr, tt.status, tt.want)
		}
	}
}

// TestVerifyInterrupted prints what was found until then.
func TestVerifyInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	seen := 0
	server := httptest.NewServer(proxy(mockServer(t), func(*reply) {
		if seen++; seen == 6 { // some after the first, with --parallel 1
			interrupt()
		}
	}))
	t.Cleanup(server.Close)
	status, stdout, _ := verifyWith(ctx, nil, "--base-url", server.URL, "--model", model, "--only", "openai/chat/body-*", "--parallel", "1")
	if status != exit.Interrupted || !strings.Contains(stdout, "the run was cancelled") || strings.Contains(stdout, "\n0 passed") {
		t.Errorf("exit code %d\n%s", status, stdout)
	}
}

func TestVerifyEstimates(t *testing.T) {
	status, stdout, stderr := verifyWith(t.Context(), nil, "--model", "m", "--dry-run", "--only", "openai/chat/usage")
	if status != 0 || !strings.Contains(stdout, "This is an estimate") || strings.HasPrefix(stdout, "about 0 ") {
		t.Errorf("exit code %d, %q, %q", status, stdout, stderr)
	}
}

func TestSelection(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"openai/chat", "openai/chat/ids/unique", true},
		{"openai/chat", "openai/chat2/ids", false},
		{"openai/*/unique", "openai/chat/ids/unique", true},
		{"openai/chat/field/messages[role=user].content[]", "openai/chat/field/messages[role=user].content[]", true},
		{"/usage|ids/", "openai/chat/ids/unique", true},
		{"/^ids/", "openai/chat/ids/unique", false},
	} {
		var s selection
		if err := s.Set(tt.pattern); err != nil || s.match(tt.name) != tt.want {
			t.Errorf("%s, %s: %v, want %v; %v", tt.pattern, tt.name, !tt.want, tt.want, err)
		}
	}
	for _, bad := range []string{"", "/(/"} {
		if err := new(selection).Set(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
