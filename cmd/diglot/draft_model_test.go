//go:build llamacpp && cgo

package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/runner"
	"github.com/diglot/diglot/engine/models/library"
)

// TestRunnerDraft: the confined process of a model reads the file of the model that
// guesses tokens, and says the same with it and without, and how good the guesses are in
// the log; one with another vocabulary is refused.
func TestRunnerDraft(t *testing.T) {
	same := filepath.Join(t.TempDir(), "same.gguf")
	if err := os.Symlink(smallestModel(t), same); err != nil {
		t.Fatal(err)
	}
	say := func(draft process.Draft) (text, log string, err error) {
		var lines bytes.Buffer
		e, err := runner.New(t.Context(), runner.Config{
			Log: slog.New(slog.NewTextHandler(&lines, nil)),
			Models: []runner.Model{{Name: "m", Command: process.Command(os.Args[0], library.File{Name: "m", Path: smallestModel(t)},
				process.Limits{Context: 512, Parallel: 2, Draft: draft})}},
		})
		if err != nil {
			t.Fatal(err)
		}
		most := 60
		reply, err := engine.Collect(e.Generate(t.Context(), &engine.Request{
			Model: "m", MaxTokens: &most, Sampling: engine.Sampling{Temperature: new(0.7), Seed: new(int64(4))},
			Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "Tell me about rivers."}}}},
		}))
		e.Close() // the log is whole
		if err != nil {
			return "", lines.String(), err
		}
		return reply.Choices[0].Blocks[0].Text, lines.String(), nil
	}
	want, log, err := say(process.Draft{None: true})
	if err != nil || want == "" || strings.Contains(log, "draft model loaded") {
		t.Fatalf("alone: %q, %v\n%s", want, err, log)
	}
	got, log, err := say(process.Draft{Model: same})
	guesses := regexp.MustCompile(`guesses of the draft model[^\n]* steps=[1-9]\d* checked=[1-9]\d* held=\d+ generated=60`)
	if err != nil || got != want || !strings.Contains(log, "draft model loaded") || !guesses.MatchString(log) {
		t.Errorf("with a draft model: %q, %v, want %q\n%s", got, err, want, log)
	}
	_, log, err = say(process.Draft{Model: filepath.Join(filepath.Dir(smallestModel(t)), "qwen2.5-coder-0.5b.gguf")})
	if e := engine.AsError(err); e == nil || e.Code != engine.CodeUnsupported || !strings.Contains(e.Message, "its vocabulary") {
		t.Errorf("with one of another vocabulary: %v\n%s", err, log)
	}
}
