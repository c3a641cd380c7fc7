package library

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
)

const (
	// DefaultKeepAlive is how long a model that nobody uses stays in memory.
	DefaultKeepAlive = 5 * time.Minute

	// DefaultQueue is how many requests may wait for models to be loaded.
	DefaultQueue = 512
)

// Config says what an [Engine] serves, and how.
type Config struct {
	Store *store.Store // nil: there are only Files
	Files []File       // come first where names are the same as in the store
	Log   *slog.Logger // required

	// Start loads a model and returns when it answers requests that name it
	// by Launch.Name. Its context ends when the engine is closed, and what it
	// started with it. Required.
	Start func(context.Context, Launch) (Instance, error)

	// Upstream makes the engine of a model that another server has. It is
	// asked for the one model whatever requests call it. nil: there are no
	// such models.
	Upstream func(context.Context, modelfile.Remote) (engine.Engine, error)

	// Plan says what a launch takes of so many bytes of free memory, and with
	// what context. Where it does not fit, the error is a
	// [*memory.DoesNotFit], which goes to the client. Required.
	Plan func(l Launch, free int64) (memory.Plan, error)

	// Budget is how many bytes all models may take together. 0: what
	// Available says is the only limit.
	Budget int64

	// Available says how many bytes of the machine's memory may be taken now,
	// beside what loaded models take; [memory.Available] does. nil: it is not
	// known, and Budget is the only limit.
	Available func() (int64, error)

	// Limits of all models, where their definitions do not say. 0: as the
	// instance likes.
	Context  int // tokens that one request may use
	Threads  int
	Parallel int // requests that one model computes at the same time

	KeepAlive time.Duration // 0: DefaultKeepAlive; negative: for ever
	Queue     int           // 0: DefaultQueue
}

// Launch says what to load. The paths are those of files.
type Launch struct {
	Name      string   // what requests will call the model: the first name it was asked for by
	Path      string   // the GGUF file
	Projector string   // what lets it see images; empty: nothing
	Template  string   // a Go template; empty: the GGUF file's own
	Adapters  []string // LoRA
	Context   int      // tokens that one request may use; 0: as many as memory allows
	Threads   int      // 0: as the instance likes
	Parallel  int      // 0: as the instance likes
	Memory    int64    // bytes that were free when it was planned; the instance plans with the same number
}

// Instance is a loaded model.
type Instance interface {
	engine.Engine

	// Close frees the memory, whether or not requests run.
	Close() error
}

// Engine answers for the models of a store, and for files beside it. It
// implements [engine.Engine].
type Engine struct {
	config Config
	files  []*model
	ctx    context.Context // of everything that is loaded
	cancel context.CancelFunc
	turn   chan struct{} // held by the load that may take memory

	mu      sync.Mutex
	serving map[digest.Digest]*resident // those that take new requests
	leaving map[*resident]bool
	waiting int           // requests whose resident is not ready
	changed chan struct{} // closed, and made anew, when memory may have become free
	closed  bool
	tasks   sync.WaitGroup // goroutines that load, and that end instances
}

var _ engine.Finder = (*Engine)(nil)

// New makes an Engine. Nothing is loaded before a request needs it.
func New(c Config) *Engine {
	c.KeepAlive = cmp.Or(c.KeepAlive, DefaultKeepAlive)
	c.Queue = cmp.Or(c.Queue, DefaultQueue)
	e := &Engine{
		config:  c,
		turn:    make(chan struct{}, 1),
		serving: map[digest.Digest]*resident{},
		leaving: map[*resident]bool{},
		changed: make(chan struct{}),
	}
	for _, f := range c.Files {
		e.files = append(e.files, ofFile(f))
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// Close ends everything that is loaded, with the requests that run, and
// returns when it is gone. Requests that come later are refused.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.cancel()
	for _, r := range e.residents() {
		e.leave(r)
		e.end(r)
	}
	e.mu.Unlock()
	e.tasks.Wait()
	return nil
}

// signal wakes the load that waits for memory. The mutex is held.
func (e *Engine) signal() {
	close(e.changed)
	e.changed = make(chan struct{})
}

func shutDown() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "The server is shutting down.")
	err.RetryAfter = 1
	return err
}
