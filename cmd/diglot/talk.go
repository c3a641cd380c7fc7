package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal/conversation"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
)

// talk runs a chat in a terminal.
func (h *host) talk(ctx context.Context, n store.Name, settings conversation.Settings) error {
	e, err := h.open(ctx, n)
	if err != nil {
		return err
	}
	if err := h.warm(ctx, n); err != nil {
		return err
	}
	history := h.history()
	defer history.Close()
	editor, err := terminal.OpenEditor(h.env.stdin, h.env.stdout, history)
	if err != nil {
		return err
	}
	defer editor.Close()
	// All other output must go through the editor from now on.
	h.late.to(editor)
	defer h.late.to(h.late.w)
	h.env.stderr = h.late
	c := conversation.New(conversation.Options{
		Engine:   engine.Checked(e),
		Model:    n.String(),
		Settings: settings,
		Screen:   conversation.Screen{Answers: editor, Notes: editor, Person: true},
	})
	fmt.Fprintf(editor, "Loaded %s. Type /help for commands, Ctrl-D to exit.\n", n)
	return c.Loop(ctx, editor, h.program())
}

// warm loads the model before the first question.
func (h *host) warm(ctx context.Context, n store.Name) error {
	if terminal.Is(h.env.stderr) {
		fmt.Fprintf(h.env.stderr, "loading %s ...", n)
		defer fmt.Fprint(h.env.stderr, clearLine)
	}
	if h.server == nil {
		return h.local.Load(ctx, n.String())
	}
	return h.server.Load(ctx, n.String())
}

// clearLine clears the line of a terminal.
const clearLine = "\r\x1b[K"

// history opens the input history, or an unsaved one if that fails.
func (h *host) history() *terminal.History {
	path, err := places.Find(h.env.getenv).HistoryPath()
	if err == nil {
		var history *terminal.History
		if history, err = terminal.OpenHistory(path); err == nil {
			return history
		}
	}
	fmt.Fprintln(h.env.stderr, "the history of this chat is not saved:", err)
	return &terminal.History{}
}

// program has the callbacks for slash commands.
func (h *host) program() conversation.Program {
	return conversation.Program{
		Open: func(ctx context.Context, model string) (engine.Engine, string, error) {
			n, err := parseName(model)
			if err != nil {
				return nil, "", err
			}
			e, err := h.open(ctx, n)
			if err != nil {
				return nil, "", err
			}
			return e, n.String(), h.warm(ctx, n)
		},
		Show:    func(ctx context.Context, model string) (string, error) { return overviewOf(ctx, h.env, model) },
		Part:    func(_ context.Context, model, part string) (string, error) { return partOf(h.env, model, part) },
		Earlier: h.earlier,
		Save:    h.save,
		Home:    places.Home(h.env.getenv),
	}
}

// earlier returns the messages of a model's Modelfile. A model of a server's flag
// has none.
func (h *host) earlier(_ context.Context, model string) ([]engine.Message, error) {
	n, err := parseName(model)
	if err != nil {
		return nil, err
	}
	m, err := h.store.Model(n)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := modelfile.Read(h.store, m)
	if err != nil {
		return nil, err
	}
	return d.Messages, nil
}

// save creates a model from a conversation.
func (h *host) save(ctx context.Context, model string, as conversation.Saved) error {
	n, err := parseName(as.Name)
	if err != nil {
		return err
	}
	_, err = makeModel(ctx, h.env, h.store, n, ".", definitionOf(model, as), h.transfer)
	return err
}

// parameters are the settings with another name in a Modelfile; empty: not a
// parameter.
var parameters = map[string]string{
	"max_tokens": "num_predict", "system": "", "think": "", "format": "", "verbose": "",
}

// definitionOf is a Modelfile that begins every conversation as this
// one went.
func definitionOf(model string, as conversation.Saved) *modelfile.File {
	f := &modelfile.File{Instructions: []modelfile.Instruction{{Name: modelfile.From, Value: model}}}
	for _, choice := range as.Settings.Choices() {
		name := choice.Name
		if other, ok := parameters[name]; ok {
			name = other
		}
		if name != "" {
			f.Instructions = append(f.Instructions, modelfile.Instruction{Name: modelfile.Parameter, Key: name, Value: choice.Value})
		}
	}
	if as.Settings.System != "" {
		f.Instructions = append(f.Instructions, modelfile.Instruction{Name: modelfile.System, Value: as.Settings.System})
	}
	for _, turn := range as.Turns {
		for _, part := range turn.Parts {
			if text, ok := part.(engine.Text); ok && text.Text != "" {
				f.Instructions = append(f.Instructions, modelfile.Instruction{Name: modelfile.Message, Key: string(turn.Role), Value: text.Text})
			}
		}
	}
	return f
}

// lateWriter is a writer with a changeable target.
type lateWriter struct {
	mu  sync.Mutex
	now io.Writer // nil: w
	w   io.Writer
}

func (l *lateWriter) to(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = w
}

func (l *lateWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		return l.w.Write(p)
	}
	return l.now.Write(p)
}
