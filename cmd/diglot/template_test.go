package main

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tried is an environment for processes that try templates.
func tried() environment {
	return environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, getenv: func(string) string { return "" }}
}

// TestTryTemplate: create and show learn of a template from a process.
func TestTryTemplate(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		want         templateReport
		err          string
	}{
		{"plain", "{% for m in messages %}{{ m.content }}{% endfor %}", templateReport{}, ""},
		{"tools", toolList + chatML, templateReport{Tools: true}, ""},
		{"broken", "{% for m in messages %}", templateReport{}, "unclosed"},
		{"blind", "hello", templateReport{}, "does not show"},
		{"a text times a number", "{{ ('x' * 9000000) * 900000 }}", templateReport{}, "too much memory"},
		{"a width", "{{ '%999999d' * 9999 % 1 }}", templateReport{}, "too much memory"},
		{"an indent", "{{ 'x'|indent(99999999999, true) }}", templateReport{}, "too much memory"},
		{"a Go width", `{{ printf "` + strings.Repeat("%999999d", 1000) + `" 1 }}{{ .Prompt }}`, templateReport{}, "too much memory"},
	} {
		got, err := tryTemplate(t.Context(), tried(), tt.source)
		got.Error = ""
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || got != tt.want {
			t.Errorf("%s: %+v, error %v; want %+v, %q", tt.name, got, err, tt.want, tt.err)
		}
	}
}

// TestTemplateProcessEnds: what nobody thought of ends the process that tries a
// template, and is told in one line.
func TestTemplateProcessEnds(t *testing.T) {
	for _, tt := range []struct{ name, script, want string }{
		{"memory of Go", "echo 'fatal error: runtime: out of memory' >&2; exit 2", "the chat template takes too much memory"},
		{"memory of C", "echo 'std::bad_alloc' >&2; kill -ABRT $$", "the chat template takes too much memory"},
		{"anything else", "exit 3", "the process that tried the chat template ended: exit status 3"},
		{"no reply", "echo oops", "the process that tried the chat template: invalid character"},
		{"a long reply", "yes | head -c 3000000", "the process that tried the chat template: invalid character"},
	} {
		_, err := readReport(t.Context(), exec.CommandContext(t.Context(), "sh", "-c", tt.script))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now(), errors.New("too long"))
	defer cancel()
	if _, err := readReport(ctx, exec.CommandContext(ctx, "sh", "-c", "sleep 60")); err == nil || err.Error() != "too long" {
		t.Errorf("a process without end: error %v", err)
	}
}

// TestCreateHostileTemplate: the whole path of a definition whose template
// would take all memory.
func TestCreateHostileTemplate(t *testing.T) {
	home := t.TempDir()
	file := write(t, "Modelfile", "FROM https://127.0.0.1:1/v1\nPARAMETER model m\nTEMPLATE {{ ('x' * 9000000) * 900000 }}\n")
	var stderr strings.Builder
	env := tried()
	env.stderr = &stderr
	env.getenv = func(name string) string {
		return map[string]string{"HOME": home, "DIGLOT_HOME": filepath.Join(home, "d")}[name]
	}
	if status := run(t.Context(), []string{"create", "m", "-f", file}, env); status == 0 || !strings.Contains(stderr.String(), "TEMPLATE: ") ||
		!strings.Contains(stderr.String(), "too much memory") {
		t.Errorf("status %d: %s", status, &stderr)
	}
}
