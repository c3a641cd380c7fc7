package runner

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
)

// liars returns an Engine whose process violates the protocol, with its log.
func liars(t *testing.T, rest time.Duration) (*Engine, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	e, err := New(t.Context(), Config{Models: []Model{puppetModel("m", "liar")}, Log: slog.New(slog.NewTextHandler(log, nil)), HangTimeout: 5 * time.Second, messageTimeout: rest})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e, log
}

// caught checks that a protocol violation fails its request like a crash, that the
// process is killed with the reason in the log, and that another one answers.
func caught(t *testing.T, e *Engine, log *logBuffer, ask func() error) {
	t.Helper()
	before, logged := pid(t, e), len(log.String())
	if err := ask(); code(t, err) != engine.CodeEngineCrashed || strings.Contains(engine.AsError(err).Message, "sense") {
		t.Errorf("error %v, want code %q and no more said", err, engine.CodeEngineCrashed)
	}
	if after := pid(t, e); after == before {
		t.Errorf("process %d answers on", before)
	}
	if got := log.String()[logged:]; !strings.Contains(got, "model process breaks the protocol") || !strings.Contains(got, "model process ended") {
		t.Errorf("the log does not say so:\n%s", got)
	}
}

// TestLiesAboutReplies: a protocol violation kills the process and reaches no client.
func TestLiesAboutReplies(t *testing.T) {
	e, log := liars(t, 50*time.Millisecond)
	for _, lie := range lies() {
		t.Run(lie.name, func(t *testing.T) {
			req := order("m", lie.name)
			req.Tools = []engine.Tool{{Name: "f"}}
			caught(t, e, log, func() error {
				check := engine.NewSequence(req)
				for event, err := range e.Generate(t.Context(), req) {
					if err != nil {
						return err
					}
					if err := check.Add(event); err != nil {
						t.Errorf("%+v goes on: %v", event, err)
					}
				}
				return nil
			})
		})
	}
}

func TestLiesAboutVectors(t *testing.T) {
	e, log := liars(t, 0)
	for _, lie := range vectorLies() {
		t.Run(lie.name, func(t *testing.T) {
			caught(t, e, log, func() error {
				got, err := e.Embed(t.Context(), &engine.EmbeddingRequest{Model: "m", Inputs: []engine.EmbeddingInput{{Text: lie.name}}})
				if got != nil {
					t.Errorf("vectors go on: %+v", got)
				}
				return err
			})
		})
	}
}

func TestLiesAboutPictures(t *testing.T) {
	e, log := liars(t, 0)
	for _, lie := range pictureLies() {
		t.Run(lie.name, func(t *testing.T) {
			caught(t, e, log, func() error {
				got, err := engine.CollectImages(e.GenerateImages(t.Context(), &engine.ImageRequest{Model: "m", Prompt: lie.name, Choices: 1}))
				if got != nil {
					t.Errorf("%d pictures go on", len(got))
				}
				return err
			})
		})
	}
}

func TestLiesAboutTokens(t *testing.T) {
	e, log := liars(t, 0)
	for _, lie := range countLies() {
		t.Run(lie.name, func(t *testing.T) {
			caught(t, e, log, func() error {
				_, err := e.Count(t.Context(), order("m", lie.name))
				return err
			})
		})
	}
}
