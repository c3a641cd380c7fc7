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

// Config says what an [Engine] runs.
type Config struct {
	Models []Model
	Log    *slog.Logger // required

	// Variables are those that the processes have, as NAME=VALUE. None of this
	// process's own is handed on besides: among them may be keys.
	Variables []string

	// Budget bounds the memory for what the processes send. nil: one of its own.
	Budget *Budget

	// HangTimeout is how long a process may show no progress while requests
	// wait for it; then it is ended. 0: ten minutes.
	HangTimeout time.Duration

	// LoadTimeout is how long a process may take to load its model. 0: half
	// an hour.
	LoadTimeout time.Duration

	restTimeout time.Duration // 0: as it is for all but tests
}

// Model is one model and the process that serves it.
type Model struct {
	Name    string
	File    string   // what the model is made of: its time of change is the model's. Empty: unknown
	Blind   bool     // it takes no images
	Command []string // program and arguments of a process that calls [RunChild] with an engine that knows the model by Name
}

// Engine answers for several models, each in a process of its own. It
// implements [engine.Engine].
type Engine struct {
	ctx     context.Context // of the processes
	cancel  context.CancelFunc
	workers []*worker      // by name
	running sync.WaitGroup // goroutines that look after processes
}

var _ engine.Engine = (*Engine)(nil)

// New makes an Engine. No process is started before a request needs it. All
// of them end with ctx, or with Close.
func New(ctx context.Context, config Config) (*Engine, error) {
	config.HangTimeout = cmp.Or(config.HangTimeout, 10*time.Minute)
	if config.Budget == nil {
		config.Budget = NewBudget()
	}
	config.restTimeout = cmp.Or(config.restTimeout, restTimeout)
	config.LoadTimeout = cmp.Or(config.LoadTimeout, 30*time.Minute)
	e := &Engine{}
	e.ctx, e.cancel = context.WithCancel(ctx)
	for _, m := range config.Models {
		if e.worker(m.Name) != nil {
			return nil, fmt.Errorf("model %q is named twice", m.Name)
		}
		e.workers = append(e.workers, &worker{
			engine: e,
			config: config,
			model:  m,
			log:    config.Log.With("model", m.Name),
			turns:  newTurns(),
		})
	}
	slices.SortFunc(e.workers, func(a, b *worker) int { return strings.Compare(a.model.Name, b.model.Name) })
	return e, nil
}

// Close ends all processes and returns when they are gone.
func (e *Engine) Close() error {
	e.cancel()
	for _, w := range e.workers {
		w.close()
	}
	e.running.Wait()
	return nil
}

// Models implements [engine.Engine]. It starts no process; the context is that
// of one that runs.
func (e *Engine) Models(context.Context) ([]engine.Model, error) {
	models := make([]engine.Model, 0, len(e.workers))
	for _, w := range e.workers {
		m := engine.Model{Name: w.model.Name, Owner: engine.Owner(w.model.Name), Context: w.context(), Blind: w.model.Blind}
		if info, err := os.Stat(w.model.File); err == nil {
			m.Changed = info.ModTime()
		}
		models = append(models, m)
	}
	return models, nil
}

// Load starts the process of a model unless it runs, and returns when the
// model is ready. Errors are of type *engine.Error.
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
		w.generate(ctx, &named, yield)
	}
}

// Count implements [engine.Engine].
func (e *Engine) Count(ctx context.Context, req *engine.Request) (int, error) {
	return once(ctx, e, req.Model, req, func(ctx context.Context, name string, c *Client) (int, error) {
		named := *req
		named.Model = name
		return c.Count(ctx, &named)
	})
}

// Embed implements [engine.Engine].
func (e *Engine) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return once(ctx, e, req.Model, req, func(ctx context.Context, name string, c *Client) (*engine.Embeddings, error) {
		named := *req
		named.Model = name
		return c.Embed(ctx, &named)
	})
}

// GenerateImages implements [engine.Engine].
func (e *Engine) GenerateImages(ctx context.Context, req *engine.ImageRequest) ([]engine.Image, error) {
	return once(ctx, e, req.Model, req, func(ctx context.Context, name string, c *Client) ([]engine.Image, error) {
		named := *req
		named.Model = name
		return c.GenerateImages(ctx, &named)
	})
}

// worker finds a model by any of its names; nil: there is none.
func (e *Engine) worker(name string) *worker {
	for _, w := range e.workers {
		if engine.SameModel(w.model.Name, name) {
			return w
		}
	}
	return nil
}
