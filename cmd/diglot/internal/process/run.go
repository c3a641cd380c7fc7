package process

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/confine"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/local/runner"
	"github.com/diglot/diglot/engine/models/library"
)

// Model is the model of one runner.
type Model struct {
	library.File
	Imagegen string // library of the image engine
	Limits   Limits
	Changes  Changes
	Memory   flagvalue.Memory // limit; 0: none
}

// Run serves a model to the parent process until ctx ends.
func Run(ctx context.Context, m Model, getenv func(string) string, stderr io.Writer) error {
	template, err := m.Changes.source()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{ReplaceAttr: WithoutTime}))
	if len(m.Parts) > 0 {
		return runImages(ctx, m, getenv, log)
	}
	files := append(gguf.PartsOf(m.Path), m.Projector, m.Changes.Template)
	files = append(files, m.Changes.Adapters...)
	files = append(files, gguf.PartsOf(m.Limits.Draft.Model)...)
	bounds := &limit{log: log}
	return runner.RunChild(ctx, runner.Child{Files: files, State: getenv(confine.Marker), Open: func(ctx context.Context, held confine.Held) (engine.Engine, error) {
		log.Info("process confined", "holds", held, "without", held.Without)
		defer bounds.start()()
		model, err := llamacpp.Open(ctx, llamacpp.Options{
			Path:      m.Path,
			Projector: m.Projector,
			Adapters:  m.Changes.Adapters,
			Threads:   int(m.Limits.Threads),
			Parallel:  int(m.Limits.Parallel),
			Context:   int(m.Limits.Context),
			Kernels:   llamacpp.Kernels(m.Limits.Kernels),
			NoDraft:   m.Limits.Draft.None,
			Draft:     m.Limits.Draft.Model,
			Available: m.available,
			Planned:   bounds.planned,
			Log:       withVariant(log),
		})
		if err != nil {
			return nil, err
		}
		bounds.loaded()
		ShareCores(getenv, 4)
		e, err := chat.New(named{model, m.Name, template}, log, time.Now)
		if err != nil && template != "" {
			err = fmt.Errorf("template %s: %w", m.Changes.Template, err)
		}
		if err != nil {
			model.Close()
			return nil, err
		}
		return progressing{e, model}, nil
	}})
}

// progressing reports the decode steps of a model, so that the parent's
// watchdog does not take a long prefill for a hang.
type progressing struct {
	engine.Engine
	model *decode.Model
}

var _ runner.Progress = progressing{}

func (p progressing) Steps() uint64 { return uint64(p.model.Stats().Steps) }

// WithoutTime removes the time from log lines: the parent, which logs each
// line, adds it.
func WithoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// named overrides a model's name and template.
type named struct {
	chat.Model
	name     string
	template string // empty: its own
}

func (n named) Info() chat.Info {
	info := n.Model.Info()
	info.Name = n.name
	info.Template = cmp.Or(n.template, info.Template)
	return info
}
