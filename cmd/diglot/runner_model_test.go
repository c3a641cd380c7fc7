//go:build llamacpp && cgo

package main

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/runner"
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
			command := runnerCommand(os.Args[0], modelFile{"m", smallestModel(t), ""}, limits{context: 256, parallel: 1})
			var changes changes
			if tt.template != "" {
				changes.template = write(t, "template", tt.template)
			}
			var log bytes.Buffer
			e, err := runner.New(t.Context(), runner.Config{
				Log:    slog.New(slog.NewTextHandler(&log, nil)),
				Models: []runner.Model{{Name: "m", Command: append(command, changes.args()...)}},
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
				if err == nil || !strings.Contains(log.String(), tt.log) || !strings.Contains(log.String(), changes.template) {
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
