package main

import (
	"log/slog"
	"runtime/debug"

	units "github.com/docker/go-units"

	"github.com/diglot/diglot/engine/local/confine"
	"github.com/diglot/diglot/engine/local/memory"
)

const (
	// runnerHeadroom is what the process of a model may take, in bytes, beside
	// what it has once it is loaded: requests, prompts, pictures and the work of
	// a template.
	runnerHeadroom = 3 << 29

	// runnerHeap is how much Go's part of it may be before garbage is
	// collected at any price.
	runnerHeap = 1 << 30
)

// runnerLimit is the limit of memory of the process of a model. What is beyond
// it ends the process, in place of the machine's others.
type runnerLimit struct {
	log  *slog.Logger
	plan memory.Plan
}

// planned sets the limit for loading: the plan is what is written to, and what
// is reserved for it may be more.
func (l *runnerLimit) planned(p memory.Plan) {
	l.plan = p
	l.set(2*p.Total() + runnerHeadroom)
}

// loaded sets the limit for all that follows: a second context, for
// embeddings, is as large as the first one at most.
func (l *runnerLimit) loaded() {
	debug.SetMemoryLimit(runnerHeap)
	used, err := confine.MemoryUsed()
	if err != nil {
		l.log.Debug("the memory of the process is not limited", "err", err)
		return
	}
	l.set(used + l.plan.Cache + l.plan.Buffers + runnerHeadroom)
}

func (l *runnerLimit) set(bytes int64) {
	if err := confine.LimitMemory(bytes); err != nil {
		l.log.Debug("the memory of the process is not limited", "err", err)
		return
	}
	l.log.Info("memory limited", "bytes", units.HumanSize(float64(bytes)))
}
