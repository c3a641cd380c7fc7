package conversation

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine"
)

// chat runs a loop over keys, and returns the requests and the screen.
func chat(t *testing.T, p *parrot, program Program, keys string) (c *Conversation, screen string) {
	t.Helper()
	var out bytes.Buffer
	e, err := terminal.OpenEditor(strings.NewReader(keys), &out, &terminal.History{})
	if err != nil {
		t.Fatal(err)
	}
	c = New(Options{Engine: p, Model: "m", Screen: Screen{Answers: e, Notes: e, Person: true}})
	if err := c.Loop(t.Context(), e, program); err != nil {
		t.Fatal(err)
	}
	e.Close()
	return c, out.String()
}

// loopCase is what a person types, and what comes of it.
type loopCase struct {
	name, keys string
	want       []string // of the last request's messages
	shown      string   // on the screen
}

func checkLoops(t *testing.T, program Program, cases []loopCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			p := says(text("", "ok")...)
			_, screen := chat(t, p, program, tt.keys)
			var got []string
			if len(p.asked) > 0 {
				got = said(p.asked[len(p.asked)-1].Messages)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if !strings.Contains(screen, tt.shown) {
				t.Errorf("there is no %q in\n%q", tt.shown, screen)
			}
		})
	}
}

func TestLoop(t *testing.T) {
	dir := t.TempDir()
	path := pictureFile(t, filepath.Join(dir, "a.png"))
	other := says(text("", "I am the other")...)
	var saved Saved
	program := Program{
		Open: func(_ context.Context, name string) (engine.Engine, string, error) {
			if name != "other" {
				return nil, "", engine.ModelNotFound(name)
			}
			return other, name, nil
		},
		Show: func(_ context.Context, model string) (string, error) { return "about " + model, nil },
		Save: func(_ context.Context, _ string, as Saved) error { saved = as; return nil },
	}
	checkLoops(t, program, []loopCase{
		{"a question", "hi\r", []string{"user: hi"}, "ok\r\n\r\n>>> "},
		{"two", "one\r\rtwo\r", []string{"user: one", "assistant: ok", "user: two"}, "ok"},
		{"cleared", "one\r/clear\rtwo\r", []string{"user: two"}, "Cleared the conversation"},
		{"a path that is mistyped", "see ./no/such.png\r", []string{"user: see ./no/such.png"}, "no such image: ./no/such.png; sent as text"},
		{"help", "/help\r", nil, "/load MODEL"},
		{"no such command", "/hlep\r", nil, "unknown command /hlep; /help lists all"},
		{"left", "/bye\rhi\r", nil, ""},
		{"left by a key", "\x04hi\r", nil, ""},
		{"stopped", "hi\x03\x03yo\r", []string{"user: yo"}, "Use Ctrl-D or /bye to exit."},
		{"several lines", "\"\"\"one\rtwo\"\"\"\r", []string{"user: one\ntwo"}, "... "},
		{"several lines with a slash", "\"\"\"/clear\rtwo\"\"\"\r", []string{"user: /clear\ntwo"}, "ok"},
		{"a picture", path + " what?\r", []string{"user: (image) what?"}, "Added image " + path},
		{"a path that begins like a command", "/etc is what?\r", []string{"user: /etc is what?"}, "ok"},
		{"no other", "/load none\r", nil, `The model "none" does not exist.`},
		{"none named", "/load\r/save\r", nil, "missing name: /save NAME"},
	})
	t.Run("another model", func(t *testing.T) {
		c, screen := chat(t, says(text("", "ok")...), program, "hi\r/load other\ryo\r/set seed 7\r/save mine\r")
		if c.model != "other" || !strings.Contains(screen, "I am the other") {
			t.Errorf("model %s:\n%q", c.model, screen)
		}
		if diff := cmp.Diff([]string{"user: yo"}, said(other.asked[len(other.asked)-1].Messages)); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if saved.Name != "mine" || *saved.Settings.Sampling.Seed != 7 || len(saved.Turns) != 2 {
			t.Errorf("saved %+v", saved)
		}
	})
}

// TestLoopStopsAnAnswer types Ctrl-C while an answer comes, and asks again.
func TestLoopStopsAnAnswer(t *testing.T) {
	in, typing := io.Pipe()
	p := &parrot{answer: func(ctx context.Context, n int, yield func(engine.Event, error) bool) {
		events := text("", "answer")
		if n > 0 {
			for _, e := range events {
				yield(e, nil)
			}
			return
		}
		yield(events[0], nil)
		go func() { _, _ = io.WriteString(typing, "\x03") }()
		<-ctx.Done()
		go func() {
			_, _ = io.WriteString(typing, "again\r")
			_ = typing.Close()
		}()
		yield(nil, engine.AsError(ctx.Err()))
	}}
	go func() { _, _ = io.WriteString(typing, "hi\r") }()
	var out bytes.Buffer
	e, err := terminal.OpenEditor(in, &out, &terminal.History{})
	if err != nil {
		t.Fatal(err)
	}
	c := New(Options{Engine: p, Model: "m", Screen: Screen{Answers: e, Notes: e, Person: true}})
	if err := c.Loop(t.Context(), e, Program{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"user: again", "assistant: answer"}, said(c.turns)); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}
