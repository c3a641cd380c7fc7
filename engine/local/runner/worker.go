package runner

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
)

const (
	// failureMemory is how long requests are answered with the error of the
	// last load before another one is tried. A crash is no such error: what
	// was killed from outside may well load the next time, and crashes in a
	// row are spaced by crashDelay.
	failureMemory = 5 * time.Second

	// freeCrashes is how many crashes in a row start a new process at once.
	// Each further one doubles the delay before the next start: up to
	// maxLoadDelay where the process does not get as far as to take requests,
	// and up to maxDelay where no request is answered in between.
	freeCrashes  = 3
	maxLoadDelay = 30 * time.Second
	maxDelay     = 4 * time.Second
)

// worker looks after the process of one model.
type worker struct {
	engine *Engine
	config Config
	model  Model
	log    *slog.Logger
	turns  *turns

	mu      sync.Mutex
	closed  bool
	latest  *launch // nil: none yet
	loads   int     // that crashed in a row
	crashes int     // of loaded processes, since a request was last answered in full
}

// launch is one start of a process. Its fields are set when done is closed.
type launch struct {
	done    chan struct{}
	process *process
	err     *engine.Error // why there is none
	failed  time.Time
}

// over reports whether another launch may take this one's place.
func (l *launch) over() bool {
	select {
	case <-l.done:
	default:
		return false
	}
	if l.err != nil {
		return l.err.Code == engine.CodeEngineCrashed || time.Since(l.failed) > failureMemory
	}
	return l.process.hasExited()
}

// ready returns the running process. It starts one where there is none: one
// for all who ask at the same time, and not bound to any of them.
func (w *worker) ready(ctx context.Context) (*process, *engine.Error) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil, shutDown()
	}
	l := w.latest
	if l == nil || l.over() {
		l = &launch{done: make(chan struct{})}
		w.latest = l
		delay := max(crashDelay(w.loads, maxLoadDelay), crashDelay(w.crashes, maxDelay))
		w.engine.running.Go(func() { w.launch(l, delay) })
	}
	w.mu.Unlock()
	select {
	case <-l.done:
		return l.process, l.err
	case <-ctx.Done():
		return nil, engine.AsError(ctx.Err())
	}
}

// crashDelay is how long to wait before the next start.
func crashDelay(crashes int, most time.Duration) time.Duration {
	if crashes < freeCrashes {
		return 0
	}
	return min(time.Second<<min(crashes-freeCrashes, 10), most)
}

// launch starts a process, waits until its model is loaded, and then looks
// after it until it is gone.
func (w *worker) launch(l *launch, delay time.Duration) {
	ctx := w.engine.ctx
	if delay > 0 {
		w.log.Warn("model process crashed repeatedly", "start_in", delay)
	}
	_ = pause(ctx, delay) // start fails where ctx ended
	start := time.Now()
	p, err := w.start(ctx)
	if err != nil {
		w.log.Error("model cannot be loaded", "err", err)
		l.err, l.failed = err, time.Now()
		close(l.done)
		return
	}
	w.log.Info("model loaded", "took", time.Since(start), "pid", p.pid)
	l.process = p
	w.loaded()
	close(l.done)
	p.watch(w.config.HangTimeout, w.log)
	<-p.exited
	if ctx.Err() == nil {
		p.judge()
		w.crashed(p.status, &w.crashes)
	}
}

// start starts a process and waits for its model.
func (w *worker) start(ctx context.Context) (*process, *engine.Error) {
	p, err := startProcess(ctx, w.model.Command, w.config, w.log)
	switch {
	case ctx.Err() != nil:
		return nil, shutDown()
	case err != nil:
		return nil, w.unloadable(err)
	}
	loading, cancel := context.WithTimeout(ctx, w.config.LoadTimeout)
	defer cancel()
	models, err := p.client.Models(loading)
	if err == nil {
		if len(models) == 1 {
			p.context = models[0].Context
		}
		return p, nil
	}
	p.kill()
	<-p.exited
	switch {
	case ctx.Err() != nil:
		return nil, shutDown()
	case isBroken(err):
		w.log.Error("model process breaks the protocol", "err", err)
	case hasLost(err) == nil:
		return nil, w.unloadable(err)
	}
	crashed := engine.Errorf(engine.CodeEngineCrashed, "The process of model %q ended while it loaded the model.", w.model.Name).
		Because(errors.New(p.status))
	crashed.NoRetry = w.crashed(p.status, &w.loads) > 1
	return nil, crashed
}

// context is how many tokens a request to the running process may use; 0: none
// runs, or it does not say.
func (w *worker) context() int {
	w.mu.Lock()
	l := w.latest
	w.mu.Unlock()
	if l == nil {
		return 0
	}
	select {
	case <-l.done:
	default:
		return 0
	}
	if l.err != nil || l.process.hasExited() {
		return 0
	}
	return l.process.context
}

// unloadable is the error of a model that cannot be loaded. What is wrong
// with it is for the log: it may name files. Only what is refused on purpose
// has a text for clients, such as a model that is too large for the machine.
func (w *worker) unloadable(err error) *engine.Error {
	if coded := engine.AsError(err); coded.Code == engine.CodeUnsupported {
		return coded
	}
	e := engine.Errorf(engine.CodeInternal, "The model %q cannot be loaded.", w.model.Name).Because(err)
	e.NoRetry = true
	return e
}

// crashed notes a crash in one of the counts, and returns how many there were
// in a row.
func (w *worker) crashed(status string, count *int) int {
	w.log.Error("model process ended", "status", status)
	w.mu.Lock()
	defer w.mu.Unlock()
	*count++
	return *count
}

// loaded notes that a process got so far.
func (w *worker) loaded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loads = 0
}

// send has the process of the model do something for req, any of the requests
// of the engine package. One that has ended before the request got there is
// followed by the next one, once. use returns the error of a lost connection,
// and no other.
func (w *worker) send(ctx context.Context, req any, use func(context.Context, *process, *flight) error) *engine.Error {
	f, refused := w.turns.enter(ctx, w.model.Name, req)
	if refused != nil {
		return refused
	}
	defer f.leave()
	for attempt := 0; ; attempt++ {
		p, failure := w.ready(ctx)
		if failure != nil {
			return failure
		}
		lost := w.fly(ctx, p, f, use)
		if lost == nil {
			return nil
		}
		if attempt > 0 || hasLost(lost).arrived {
			return w.lostReply(f, lost)
		}
	}
}

// fly has p do something for a request, and finds out whether it is to blame
// where p ends.
func (w *worker) fly(ctx context.Context, p *process, f *flight, use func(context.Context, *process, *flight) error) error {
	p.passengers.board(f)
	defer p.passengers.leave(f)
	lost := use(onArrival(ctx, func() { p.passengers.arrive(f) }), p, f)
	if lost == nil {
		return nil
	}
	if !hasLost(lost).arrived {
		p.passengers.leave(f)
	}
	if isBroken(lost) {
		w.log.Error("model process breaks the protocol", "err", lost)
		p.faulty.Store(true)
	}
	p.end(ctx)
	if p.hasExited() && w.engine.ctx.Err() == nil {
		p.judge()
	}
	return lost
}

// generate answers req.
func (w *worker) generate(ctx context.Context, req *engine.Request, yield func(engine.Event, error) bool) {
	failure := w.send(ctx, req, func(ctx context.Context, p *process, f *flight) error { return w.play(ctx, p, f, req, yield) })
	if failure != nil {
		yield(nil, failure)
	}
}

// once makes a call that is answered at once, in the process of the model.
func once[T any](ctx context.Context, e *Engine, model string, req any, ask func(ctx context.Context, name string, c *Client) (T, error)) (T, error) {
	var result T
	w := e.worker(model)
	if w == nil {
		return result, engine.ModelNotFound(model)
	}
	var err error
	failure := w.send(ctx, req, func(ctx context.Context, p *process, f *flight) error {
		result, err = ask(ctx, w.model.Name, p.client)
		if hasLost(err) != nil {
			return err
		}
		f.answered = ctx.Err() == nil
		if err == nil {
			w.succeeded()
		}
		return nil
	})
	if failure != nil {
		return result, failure
	}
	return result, err
}

// play passes on what p answers. It returns the error of a lost connection,
// and passes on any other.
func (w *worker) play(ctx context.Context, p *process, f *flight, req *engine.Request, yield func(engine.Event, error) bool) error {
	for event, err := range p.client.Generate(ctx, req) {
		if hasLost(err) != nil {
			return err
		}
		switch event.(type) {
		case engine.BlockStart:
			f.begun()
		case engine.Done:
			w.succeeded()
		}
		if !yield(event, err) {
			return nil
		}
	}
	f.answered = ctx.Err() == nil
	return nil
}

func (w *worker) succeeded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crashes = 0
}

// lostReply is the error of a request that was running in a process that
// ended.
func (w *worker) lostReply(f *flight, lost error) *engine.Error {
	if w.engine.ctx.Err() != nil {
		return shutDown()
	}
	e := engine.Errorf(engine.CodeEngineCrashed, "The process of model %q ended while it worked on this request.", w.model.Name).
		Because(lost)
	e.NoRetry = f.isCause()
	return e
}

// close lets no further process start.
func (w *worker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

func shutDown() *engine.Error {
	e := engine.Errorf(engine.CodeOverloaded, "The server is shutting down.")
	e.RetryAfter = 1
	return e
}
