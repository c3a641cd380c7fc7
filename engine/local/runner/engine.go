package runner

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
)

// Config configures an [Engine].
type Config struct {
	Models []Model
	Log    *slog.Logger // required

	// Variables is the environment of the processes, as NAME=VALUE. They do not
	// inherit this process's, which may hold keys.
	Variables []string

	// Budget limits the memory for what the processes send. nil: a new one.
	Budget *Budget

	// HangTimeout is how long a process may make no progress on requests before it
	// is killed. 0: ten minutes.
	HangTimeout time.Duration

	// LoadTimeout limits how long a model may take to load. 0: half an hour.
	LoadTimeout time.Duration

	messageTimeout time.Duration // for tests
}

// Model is one model and the process that serves it.
type Model struct {
	Name     string
	File     string   // its modification time is the model's; empty: unknown
	TextOnly bool     // accepts no images
	Command  []string // calls [RunChild] with an engine that has a model of this Name
}

// Engine is an [engine.Engine] that runs each of its models in a process of its own.
type Engine struct {
	ctx     context.Context // of the processes
	cancel  context.CancelFunc
	workers []*worker      // by name
	running sync.WaitGroup // launches
}

var _ engine.Engine = (*Engine)(nil)

// New returns an Engine. Processes start on demand and are killed when ctx is done or
// by Close.
func New(ctx context.Context, config Config) (*Engine, error) {
	config.HangTimeout = cmp.Or(config.HangTimeout, 10*time.Minute)
	if config.Budget == nil {
		config.Budget = NewBudget()
	}
	config.messageTimeout = cmp.Or(config.messageTimeout, messageTimeout)
	config.LoadTimeout = cmp.Or(config.LoadTimeout, 30*time.Minute)
	e := &Engine{}
	e.ctx, e.cancel = context.WithCancel(ctx)
	for _, m := range config.Models {
		if e.worker(m.Name) != nil {
			return nil, fmt.Errorf("model %q is named twice", m.Name)
		}
		e.workers = append(e.workers, &worker{
			engine:    e,
			config:    config,
			model:     m,
			log:       config.Log.With("model", m.Name),
			admission: newAdmission(),
		})
	}
	slices.SortFunc(e.workers, func(a, b *worker) int { return strings.Compare(a.model.Name, b.model.Name) })
	return e, nil
}

// Close kills all processes and waits until they have exited.
func (e *Engine) Close() error {
	e.cancel()
	for _, w := range e.workers {
		w.close()
	}
	e.running.Wait()
	return nil
}

// Models implements [engine.Engine]. It starts no process; the context length is
// known while one runs.
func (e *Engine) Models(context.Context) ([]engine.Model, error) {
	models := make([]engine.Model, 0, len(e.workers))
	for _, w := range e.workers {
		m := engine.Model{Name: w.model.Name, Owner: engine.Owner(w.model.Name), Context: w.context(), TextOnly: w.model.TextOnly}
		if info, err := os.Stat(w.model.File); err == nil {
			m.Changed = info.ModTime()
		}
		models = append(models, m)
	}
	return models, nil
}

// Load starts the process of a model unless it runs, and waits until the model is
// loaded. Errors are of type *engine.Error.
func (e *Engine) Load(ctx context.Context, name string) error {
	w := e.worker(name)
	if w == nil {
		return engine.ModelNotFound(name)
	}
	if _, err := w.ready(ctx); err != nil {
		return err
	}
	return nil
}

// Processes returns the IDs of the processes that run with their models loaded.
func (e *Engine) Processes() []int {
	var ids []int
	for _, w := range e.workers {
		if p := w.running(); p != nil {
			ids = append(ids, p.pid)
		}
	}
	return ids
}

// Generate implements [engine.Engine].
func (e *Engine) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		w := e.worker(req.Model)
		if w == nil {
			yield(nil, engine.ModelNotFound(req.Model))
			return
		}
		named := *req
		named.Model = w.model.Name
		w.events(ctx, &named, yield, func(ctx context.Context, c *Client) iter.Seq2[engine.Event, error] {
			return c.Generate(ctx, &named)
		})
	}
}

// Count implements [engine.Engine].
func (e *Engine) Count(ctx context.Context, req *engine.Request) (int, error) {
	return unary(ctx, e, req.Model, req, func(ctx context.Context, name string, c *Client) (int, error) {
		named := *req
		named.Model = name
		return c.Count(ctx, &named)
	})
}

// Embed implements [engine.Engine].
func (e *Engine) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return unary(ctx, e, req.Model, req, func(ctx context.Context, name string, c *Client) (*engine.Embeddings, error) {
		named := *req
		named.Model = name
		return c.Embed(ctx, &named)
	})
}

// GenerateImages implements [engine.Engine].
func (e *Engine) GenerateImages(ctx context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		w := e.worker(req.Model)
		if w == nil {
			yield(nil, engine.ModelNotFound(req.Model))
			return
		}
		named := *req
		named.Model = w.model.Name
		w.events(ctx, &named, yield, func(ctx context.Context, c *Client) iter.Seq2[engine.Event, error] {
			return c.GenerateImages(ctx, &named)
		})
	}
}

// Step is how far the image is that a model draws: the last finished step, and how
// many it has. 0 of 0: it draws none.
func (e *Engine) Step(name string) (step, of int) {
	w := e.worker(name)
	if w == nil {
		return 0, 0
	}
	w.mu.Lock()
	l := w.latest
	w.mu.Unlock()
	if l == nil || !l.over() || l.process == nil {
		return 0, 0
	}
	return l.process.client.progress.get()
}

// worker finds a model by any of its names. It returns nil if there is none.
func (e *Engine) worker(name string) *worker {
	for _, w := range e.workers {
		if engine.SameModel(w.model.Name, name) {
			return w
		}
	}
	return nil
}
