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
	// DefaultKeepAlive is how long an idle model stays loaded.
	DefaultKeepAlive = 5 * time.Minute

	// DefaultQueue is how many requests may wait for models to load.
	DefaultQueue = 512
)

// Config configures an [Engine].
type Config struct {
	Store *store.Store // nil: only Files
	Files []File       // take precedence over stored models of the same name
	Log   *slog.Logger // required

	// Start loads a model and returns when it is ready for requests to
	// Launch.Name. Its context ends when the engine is closed. Required.
	Start func(context.Context, Launch) (Instance, error)

	// Upstream makes the engine of a remote model. Nil: remote models are errors.
	Upstream func(context.Context, modelfile.Remote) (engine.Engine, error)

	// Plan plans memory and context of a launch within free bytes. If it does not
	// fit, the error is a [*memory.DoesNotFit], which clients see. Required.
	Plan func(l Launch, free int64) (memory.Plan, error)

	// Budget bounds the memory of all models, in bytes. 0: Available is the only
	// limit.
	Budget int64

	// Available returns the memory that is free now, such as [memory.Available].
	// Nil: Budget is the only limit.
	Available func() (int64, error)

	// Defaults for models whose Modelfiles do not set them. 0: the instance's.
	Context  int // tokens per request
	Threads  int
	Parallel int // concurrent requests per model

	// A model that guesses tokens for those whose Modelfiles name none: its name or
	// its file. Empty: there is none.
	Draft, DraftFile string

	// CanDraft reports whether the model that Draft or DraftFile names, which is in the
	// launch, can guess for the model that is launched; else that goes without. Nil: it
	// can.
	CanDraft func(Launch) bool

	KeepAlive time.Duration // 0: DefaultKeepAlive; negative: forever
	Queue     int           // 0: DefaultQueue
}

// Launch describes a model to load. All paths are files.
type Launch struct {
	Name      string    // name of the model in requests: the first that was used
	Path      string    // the GGUF file
	Projector string    // vision projector; empty: none
	Template  string    // chat template; empty: the GGUF file's own
	Adapters  []string  // LoRA
	Draft     string    // GGUF file of a model that guesses tokens; empty: none
	Parts     []string  // files of an image model, in place of the other paths
	Strengths []float64 // of the LoRAs of an image model
	Context   int       // tokens per request; 0: as many as memory allows
	Threads   int       // 0: the instance's default
	Parallel  int       // 0: the instance's default
	Memory    int64     // free bytes when it was planned; the instance plans with the same number
}

// Instance is a loaded model.
type Instance interface {
	engine.Engine

	// Close frees the memory and ends running requests.
	Close() error
}

// Measured is an [Instance] that may know how much memory it uses, in bytes. What it may use
// by its plan, and does not use yet, is not free for others.
type Measured interface {
	MemoryUsed() (bytes int64, known bool)
}

// Engine is an [engine.Engine] for the models of a store and for files.
type Engine struct {
	config Config
	files  []*model
	ctx    context.Context // of all instances
	cancel context.CancelFunc
	turn   chan struct{} // held by the load that is being admitted

	mu      sync.Mutex
	serving map[digest.Digest]*resident // accept new requests
	leaving map[*resident]bool
	waiting int           // requests whose resident is not ready
	changed chan struct{} // closed and replaced when memory may have been freed
	closed  bool
	tasks   sync.WaitGroup // goroutines that load or close instances
}

var _ engine.Finder = (*Engine)(nil)

// New makes an Engine. It loads nothing yet.
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

// Close unloads all models, ends their requests, and waits until they are gone.
// Later requests are refused.
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

// signal wakes the load that waits for memory. The caller holds the mutex.
func (e *Engine) signal() {
	close(e.changed)
	e.changed = make(chan struct{})
}

func shutDown() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "The server is shutting down.")
	err.RetryAfter = 1
	return err
}
