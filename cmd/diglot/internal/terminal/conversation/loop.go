package conversation

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine"
)

const (
	prompt = ">>> "
	more   = "... "
)

// Program is what the lines with a slash need of the program around a
// conversation. Errors are sentences for the person.
type Program struct {
	Open func(ctx context.Context, model string) (engine.Engine, string, error) // the engine for another model, and the model's name there
	Show func(ctx context.Context, model string) (string, error)                // what there is to know of a model
	Save func(ctx context.Context, model string, as Saved) error                // makes a model of a conversation

	// Part is one part of what Show tells, whole: system, parameters,
	// template, license or modelfile. Nil: it is not known here.
	Part func(ctx context.Context, model, part string) (string, error)

	// Earlier is what the model's definition begins each conversation with.
	// Nil: it is not known here.
	Earlier func(ctx context.Context, model string) ([]engine.Message, error)

	Home string // what ~ stands for in paths; may be empty
}

// Saved is a conversation that is to be a model.
type Saved struct {
	Name     string // of the new model
	Settings Settings
	Turns    []engine.Message
}

// Loop reads messages and answers them until the person leaves, or ctx ends.
// Ctrl-C ends an answer, not the conversation.
func (c *Conversation) Loop(ctx context.Context, e *terminal.Editor, p Program) error {
	c.history = e.History()
	if err := c.showEarlier(ctx, p); err != nil {
		c.screen.note(sentence(err))
	}
	for {
		line, err := e.ReadMessage(ctx, prompt, more)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, terminal.ErrInterrupted):
			c.screen.note("Ctrl-D or /bye leaves.")
			continue
		case err != nil:
			return err
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		leave, err := c.take(ctx, e, p, line)
		if leave || ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.screen.note(sentence(err))
		}
	}
}

// take does what one message says.
func (c *Conversation) take(ctx context.Context, e *terminal.Editor, p Program, line string) (leave bool, err error) {
	answering, stop := e.Interruptible(ctx)
	defer stop()
	if isCommand(line) {
		leave, err = c.command(answering, p, line)
	} else {
		err = c.message(answering, p, line)
	}
	if errors.Is(err, context.Canceled) {
		err = nil // the person knows
	}
	return leave, err
}

func (c *Conversation) message(ctx context.Context, p Program, line string) error {
	text, images, found, err := Attach(line, p.Home)
	if err != nil {
		return err
	}
	for _, path := range found {
		c.screen.note("With the picture " + path)
	}
	for _, path := range Missing(text, p.Home) {
		c.screen.note("no such picture: " + path + "; it is sent as text")
	}
	if err := c.Ask(ctx, text, images); err != nil {
		return err
	}
	_, err = io.WriteString(c.screen.Answers, "\n")
	return err
}

// isCommand reports whether a line is for the program and not the model. The
// path of a file begins with a slash too.
func isCommand(line string) bool {
	name, ok := strings.CutPrefix(strings.TrimSpace(line), "/")
	if !ok || strings.Contains(line, "\n") {
		return false
	}
	name, _, _ = strings.Cut(name, " ")
	if findCommand(name) != nil {
		return true
	}
	_, err := os.Stat("/" + name)
	return err != nil && !strings.Contains(name, "/")
}

// sentence is an error for a person: of the engine's, what is for clients.
func sentence(err error) string {
	var coded *engine.Error
	if errors.As(err, &coded) {
		return coded.Message
	}
	return err.Error()
}
