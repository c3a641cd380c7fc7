//go:build llamacpp && cgo

package main

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/runner"
	"github.com/diglot/diglot/engine/models/library"
)

// TestRunnerTemplate runs the process of a model with templates other than
// its own.
func TestRunnerTemplate(t *testing.T) {
	for _, tt := range []struct {
		name, template string
		prompt         string // of a model that runs
		log            string // of one that does not
	}{
		{name: "its own", prompt: "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"},
		{name: "Jinja", template: "{% for m in messages %}({{ m.role }}: {{ m.content }}){% endfor %}", prompt: "(user: hello)"},
		{name: "Go", template: "Q: {{ .Prompt }}\nA: {{ .Response }}\n", prompt: "Q: hello\nA: "},
		{name: "broken", template: "{{ if .Prompt }}", log: "unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			command := process.Command(os.Args[0], library.File{Name: "m", Path: smallestModel(t)}, process.Limits{Context: 256, Parallel: 1})
			path := ""
			if tt.template != "" {
				path = write(t, "template", tt.template)
				command = append(command, "--template", path)
			}
			var log bytes.Buffer
			e, err := runner.New(t.Context(), runner.Config{
				Log:    slog.New(slog.NewTextHandler(&log, nil)),
				Models: []runner.Model{{Name: "m", Command: command}},
			})
			if err != nil {
				t.Fatal(err)
			}
			two := 2
			prompt := ""
			for event, failure := range e.Generate(t.Context(), &engine.Request{
				Model: "m", MaxTokens: &two,
				Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "hello"}}}},
			}) {
				if start, ok := event.(engine.Start); ok {
					prompt = start.Prompt
				}
				err = failure
			}
			e.Close() // the log is whole
			if tt.log != "" {
				if err == nil || !strings.Contains(log.String(), tt.log) || !strings.Contains(log.String(), path) {
					t.Errorf("error %v, log:\n%s", err, &log)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, &log)
			}
			if !strings.HasSuffix(prompt, tt.prompt) {
				t.Errorf("the prompt is %q, want %q at its end", prompt, tt.prompt)
			}
		})
	}
}
