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

// Program has the callbacks for slash commands. Their errors are for the user.
type Program struct {
	Open func(ctx context.Context, model string) (engine.Engine, string, error) // the engine of another model, and its name there
	Show func(ctx context.Context, model string) (string, error)                // information about a model
	Save func(ctx context.Context, model string, as Saved) error                // saves a conversation as a model

	// Part is one part of Show in full: system, parameters, template, license or
	// modelfile. May be nil.
	Part func(ctx context.Context, model, part string) (string, error)

	// Earlier returns the messages of the model's Modelfile. May be nil.
	Earlier func(ctx context.Context, model string) ([]engine.Message, error)

	Home string // replaces ~ in paths; may be empty
}

// Saved is a conversation to save as a model.
type Saved struct {
	Name     string // of the new model
	Settings Settings
	Turns    []engine.Message
}

// Loop reads and answers messages until the user exits or ctx ends. Ctrl-C stops
// only the current answer.
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
			c.screen.note("Use Ctrl-D or /bye to exit.")
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

// take handles one message.
func (c *Conversation) take(ctx context.Context, e *terminal.Editor, p Program, line string) (leave bool, err error) {
	answering, stop := e.Interruptible(ctx)
	defer stop()
	if isCommand(line) {
		leave, err = c.command(answering, p, line)
	} else {
		err = c.message(answering, p, line)
	}
	if errors.Is(err, context.Canceled) {
		err = nil // the user stopped it
	}
	return leave, err
}

func (c *Conversation) message(ctx context.Context, p Program, line string) error {
	text, images, found, err := Attach(line, p.Home)
	if err != nil {
		return err
	}
	for _, path := range found {
		c.screen.note("Added image " + path)
	}
	for _, path := range Missing(text, p.Home) {
		c.screen.note("no such image: " + path + "; sent as text")
	}
	if err := c.Ask(ctx, text, images); err != nil {
		return err
	}
	_, err = io.WriteString(c.screen.Answers, "\n")
	return err
}

// isCommand reports whether a line is a slash command, and not a message that
// starts with a path.
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

// sentence is the text of an error for the user. Of an engine error that is the
// message for clients.
func sentence(err error) string {
	var coded *engine.Error
	if errors.As(err, &coded) {
		return coded.Message
	}
	return err.Error()
}
