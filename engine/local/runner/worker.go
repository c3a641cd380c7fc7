package runner

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
)

const (
	// failureMemory is how long requests get the error of the last load before
	// another is tried. Crashes are not remembered: what was killed from outside
	// may load the next time, and restarts are delayed by crashDelay.
	failureMemory = 5 * time.Second

	// freeCrashes is how many consecutive crashes cause no delay. Each further
	// one doubles it: up to maxLoadDelay if the model is not loaded, up to maxDelay
	// if no request completes in between.
	freeCrashes  = 3
	maxLoadDelay = 30 * time.Second
	maxDelay     = 4 * time.Second
)

// worker supervises the process of one model.
type worker struct {
	engine    *Engine
	config    Config
	model     Model
	log       *slog.Logger
	admission *admission

	mu      sync.Mutex
	closed  bool
	latest  *launch // nil: none yet
	loads   int     // consecutive crashes while loading
	crashes int     // of loaded processes since the last completed request
}

// launch is a start of a process. Its fields are set before done is closed.
type launch struct {
	done    chan struct{}
	process *process
	err     *engine.Error // nil: process is set
	failed  time.Time
}

// over reports whether the fields of the launch are set.
func (l *launch) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// replaceable reports whether a new launch may start.
func (l *launch) replaceable() bool {
	if !l.over() {
		return false
	}
	if l.err != nil {
		return l.err.Code == engine.CodeEngineCrashed || time.Since(l.failed) > failureMemory
	}
	return l.process.hasExited()
}

// ready returns the running process. If there is none it starts one, which is
// shared by concurrent callers and not bound to their contexts.
func (w *worker) ready(ctx context.Context) (*process, *engine.Error) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil, shuttingDown()
	}
	l := w.latest
	if l == nil || l.replaceable() {
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

// crashDelay is the delay before the next start.
func crashDelay(crashes int, most time.Duration) time.Duration {
	if crashes < freeCrashes {
		return 0
	}
	return min(time.Second<<min(crashes-freeCrashes, 10), most)
}

// launch starts a process, waits until its model is loaded and then watches it
// until it exits.
func (w *worker) launch(l *launch, delay time.Duration) {
	ctx := w.engine.ctx
	if delay > 0 {
		w.log.Warn("model process crashed repeatedly", "start_in", delay)
	}
	_ = pause(ctx, delay) // start fails if ctx is done
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
		p.blame()
		w.crashed(p.status, &w.crashes)
	}
}

// start starts a process and waits for its model.
func (w *worker) start(ctx context.Context) (*process, *engine.Error) {
	p, err := startProcess(ctx, w.model.Command, w.config, w.log)
	switch {
	case ctx.Err() != nil:
		return nil, shuttingDown()
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
		return nil, shuttingDown()
	case isProtocolError(err):
		w.log.Error("model process breaks the protocol", "err", err)
	case asLost(err) == nil:
		return nil, w.unloadable(err)
	}
	crashed := engine.Errorf(engine.CodeEngineCrashed, "The process of model %q ended while it loaded the model.", w.model.Name).
		Because(errors.New(p.status))
	crashed.NoRetry = w.crashed(p.status, &w.loads) > 1
	return nil, crashed
}

// running is the process whose model is loaded; nil: none.
func (w *worker) running() *process {
	w.mu.Lock()
	l := w.latest
	w.mu.Unlock()
	if l == nil {
		return nil
	}
	select {
	case <-l.done:
	default:
		return nil
	}
	if l.err != nil || l.process.hasExited() {
		return nil
	}
	return l.process
}

// context is the context length of the running process; 0: none runs, or it is
// unknown.
func (w *worker) context() int {
	if p := w.running(); p != nil {
		return p.context
	}
	return 0
}

// unloadable is the error of a model that cannot be loaded. The cause is for the
// log, as it may name files, except for [engine.CodeUnsupported], such as a model
// that is too large for the machine.
func (w *worker) unloadable(err error) *engine.Error {
	if coded := engine.AsError(err); coded.Code == engine.CodeUnsupported {
		return coded
	}
	e := engine.Errorf(engine.CodeInternal, "The model %q cannot be loaded.", w.model.Name).Because(err)
	e.NoRetry = true
	return e
}

// crashed increments one of the counts and returns it.
func (w *worker) crashed(status string, count *int) int {
	w.log.Error("model process ended", "status", status)
	w.mu.Lock()
	defer w.mu.Unlock()
	*count++
	return *count
}

func (w *worker) loaded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loads = 0
}

// send runs use with the model's process for req, any of the requests of the
// engine package. If the process exits before the request is delivered, it retries
// once with the next process. use returns only errors of a lost connection.
func (w *worker) send(ctx context.Context, req any, use func(context.Context, *process, *job) error) *engine.Error {
	f, refused := w.admission.enter(ctx, w.model.Name, req)
	if refused != nil {
		return refused
	}
	defer f.finish()
	for attempt := 0; ; attempt++ {
		p, failure := w.ready(ctx)
		if failure != nil {
			return failure
		}
		lost := w.run(ctx, p, f, use)
		if lost == nil {
			return nil
		}
		if attempt > 0 || asLost(lost).arrived {
			return w.crashError(f, lost)
		}
	}
}

// run runs use with p, and blames the requests in it if p exits.
func (w *worker) run(ctx context.Context, p *process, f *job, use func(context.Context, *process, *job) error) error {
	p.inFlight.add(f)
	defer p.inFlight.remove(f)
	lost := use(onArrival(ctx, func() { p.inFlight.delivered(f) }), p, f)
	if lost == nil {
		return nil
	}
	if !asLost(lost).arrived {
		p.inFlight.remove(f)
	}
	if isProtocolError(lost) {
		w.log.Error("model process breaks the protocol", "err", lost)
		p.faulty.Store(true)
	}
	p.stop(ctx)
	if p.hasExited() && w.engine.ctx.Err() == nil {
		p.blame()
	}
	return lost
}

// events yields the events that ask gets for req, any of the requests of the engine
// package, from the model's process.
func (w *worker) events(ctx context.Context, req any, yield func(engine.Event, error) bool, ask func(context.Context, *Client) iter.Seq2[engine.Event, error]) {
	failure := w.send(ctx, req, func(ctx context.Context, p *process, f *job) error {
		return w.stream(ctx, f, ask(ctx, p.client), yield)
	})
	if failure != nil {
		yield(nil, failure)
	}
}

// unary makes a call with one reply in the model's process.
func unary[T any](ctx context.Context, e *Engine, model string, req any, ask func(ctx context.Context, name string, c *Client) (T, error)) (T, error) {
	var result T
	w := e.worker(model)
	if w == nil {
		return result, engine.ModelNotFound(model)
	}
	var err error
	failure := w.send(ctx, req, func(ctx context.Context, p *process, f *job) error {
		result, err = ask(ctx, w.model.Name, p.client)
		if asLost(err) != nil {
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

// stream yields events. It returns the error of a lost connection and yields any
// other.
func (w *worker) stream(ctx context.Context, f *job, events iter.Seq2[engine.Event, error], yield func(engine.Event, error) bool) error {
	for event, err := range events {
		if asLost(err) != nil {
			return err
		}
		switch event.(type) {
		case engine.BlockStart:
			f.outputBegan()
		case engine.Done, engine.Drawn:
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

// crashError is the error of a request that was running in a process that exited.
func (w *worker) crashError(f *job, lost error) *engine.Error {
	if w.engine.ctx.Err() != nil {
		return shuttingDown()
	}
	e := engine.Errorf(engine.CodeEngineCrashed, "The process of model %q ended while it worked on this request.", w.model.Name).
		Because(lost)
	e.NoRetry = f.isCause()
	return e
}

// close prevents further launches.
func (w *worker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

func shuttingDown() *engine.Error {
	e := engine.Errorf(engine.CodeOverloaded, "The server is shutting down.")
	e.RetryAfter = 1
	return e
}
