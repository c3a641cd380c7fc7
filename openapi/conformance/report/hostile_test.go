package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi/conformance"
)

const hostileText = "line\n::error file=x::PWNED\n \t::stop-commands::x\n##vso[task.setvariable variable=x]y\n##[error]z\n##teamcity[testFailed]\r\n\x1b[31m::debug::w\n"

// hostile is a run whose every text wants to be more than text.
func hostile() Summary {
	s := sample()
	s.Baseline = Baseline{"openai/chat/known": "a reason \x1b[31m\n" + hostileText}
	for i := range s.Results {
		r := &s.Results[i]
		if r.Reason != "" {
			r.Reason = hostileText
		}
		for j := range r.Failures {
			f := &r.Failures[j]
			f.Message, f.Document, f.Stack = hostileText, hostileText, "goroutine 1\n\x1b[2J"
			f.Exchange = &conformance.Exchange{Method: "GET", URL: "http://h", Status: 500, Body: []byte(hostileText)}
		}
	}
	return s
}

// command is what a CI system would run: GitHub leaves out the blanks before it.
var command = regexp.MustCompile(`(?m)^\s*::|##[a-z]*\[`)

func TestNoCommandsInOutputs(t *testing.T) {
	s := hostile()
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return s.Text(b) },
		"JUnit":    func(b *bytes.Buffer) error { return s.JUnit(b) },
		"Markdown": func(b *bytes.Buffer) error { return s.Markdown(b) },
		"JSON":     func(b *bytes.Buffer) error { return s.JSON(b) },
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		if found := command.FindString(got.String()); found != "" {
			t.Errorf("%s: %q is in\n%s", name, found, got.String())
		}
		if strings.ContainsAny(got.String(), "\x1b\r") {
			t.Errorf("%s: controls are in it", name)
		}
	}
}

// TestBars holds that each line of a server's text is told from those of diglot.
func TestBars(t *testing.T) {
	got := shown{Message: "a\n0 failed", Document: "b\n0 failed", Reply: "0 failed\n0 failed"}.block()
	if want := "a\n| 0 failed\ndocument: b\n| 0 failed\n| 0 failed\n| 0 failed\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMarks(t *testing.T) {
	run := func(n int) string { return strings.Repeat("`", n) }
	for _, tt := range []struct{ name, got, want string }{
		{"a run inline", Inline("a" + run(9)), run(10) + " a" + run(9) + " " + run(10)},
		{"a long run inline", Inline("a" + run(90)), "`a" + strings.Repeat("'", 90) + "`"},
		{"a run in a block", fenced("", run(3)), "\n  ````\n  ```\n  ````\n"},
		{"a long run in a block", fenced("", run(90)), "\n  ```\n  " + strings.Repeat("'", 90) + "\n  ```\n"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}
