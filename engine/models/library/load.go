package library

import (
	"log/slog"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
	"github.com/diglot/diglot/engine/models/modelfile"
)

// load loads a resident, or sets its error.
func (e *Engine) load(r *resident, m *model) {
	start := time.Now()
	definition, instance, err := e.open(r, m)
	log := e.log(r)
	if err != nil {
		log.Error("model cannot be loaded", "err", err)
	} else {
		log.Info("model loaded", "took", time.Since(start), "memory", r.plan.Total(), "context", r.plan.Context)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	r.definition, r.instance, r.err, r.failed = definition, instance, err, time.Now()
	close(r.ready)
	r.stays = r.failed.Add(min(r.failed.Sub(r.begun), longestStay))
	switch {
	case err != nil:
		r.plan = memory.Plan{}
		e.drop(r)
		e.signal()
	case e.closed:
		e.leave(r)
		e.end(r)
	case r.users == 0:
		e.rest(r)
	default:
		e.signal() // it may be evicted from now on
	}
}

// drop removes a resident that failed to load, unless the failure is lasting: a
// file that crashes its runner must not be loaded again by every request. The
// caller holds the mutex.
func (e *Engine) drop(r *resident) {
	delete(e.leaving, r)
	lasting := r.err.NoRetry || r.err.Code == engine.CodeEngineCrashed
	if e.serving[r.digest] == r && !lasting {
		delete(e.serving, r.digest)
	}
}

// open reads a model, waits for its admission, and starts it.
func (e *Engine) open(r *resident, m *model) (*modelfile.Definition, Instance, *engine.Error) {
	definition, err := e.define(m)
	if err != nil {
		return nil, nil, e.broken(m.name, err)
	}
	if definition.Remote != nil {
		instance, err := e.connect(*definition.Remote)
		return definition, instance, err
	}
	l, refused := e.withDraft(e.launch(m.name, definition), definition)
	if refused != nil {
		return nil, nil, refused
	}
	l, refused = e.admit(r, l)
	if refused != nil {
		return nil, nil, refused
	}
	instance, err := e.config.Start(e.ctx, l)
	switch {
	case err == nil:
		return definition, instance, nil
	case e.ctx.Err() != nil:
		return nil, nil, shutDown()
	}
	return nil, nil, engine.AsError(err)
}

// launch is the launch of a model.
func (e *Engine) launch(name string, d *modelfile.Definition) Launch {
	l := Launch{
		Name:      name,
		Path:      d.Model,
		Projector: d.Projector,
		Template:  d.Template,
		Adapters:  d.Adapters,
		Parts:     d.Parts,
		Strengths: d.Parameters.Strengths,
		Context:   e.config.Context,
		Threads:   e.config.Threads,
		Parallel:  e.config.Parallel,
	}
	if d.Parameters.Context != nil {
		l.Context = *d.Parameters.Context
	}
	if d.Parameters.Threads != nil {
		l.Threads = *d.Parameters.Threads
	}
	return l
}

// connect makes the instance of a remote model.
func (e *Engine) connect(r modelfile.Remote) (Instance, *engine.Error) {
	if e.config.Upstream == nil {
		return nil, engine.Errorf(engine.CodeUnsupported, "The model is a remote one at %s, which this server does not support.", r.URL)
	}
	upstream, err := e.config.Upstream(e.ctx, r)
	if err != nil {
		return nil, engine.AsError(err)
	}
	return newConnection(upstream), nil
}

// log is the log for a resident.
func (e *Engine) log(r *resident) *slog.Logger {
	return e.config.Log.With("model", r.name)
}
