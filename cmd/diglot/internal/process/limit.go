// Package process makes the process of a model, on both sides: the server, which
// starts it, and the program in it.
package process

import (
	"log/slog"
	"runtime"
	"runtime/debug"

	units "github.com/docker/go-units"

	"github.com/diglot/diglot/engine/local/confine"
	"github.com/diglot/diglot/engine/local/memory"
)

const (
	// headroom is what the process of a model may take, in bytes, beside
	// what it has once it is loaded: requests, prompts, pictures and the work of
	// a template.
	headroom = 3 << 29

	// heap is how much Go's part of it may be before garbage is
	// collected at any price.
	heap = 1 << 30
)

// limit is the limit of memory of the process of a model. What is beyond
// it ends the process, in place of the machine's others.
type limit struct {
	log  *slog.Logger
	plan memory.Plan
}

// planned sets the limit for loading: the plan is what is written to, and what
// is reserved for it may be more.
func (l *limit) planned(p memory.Plan) {
	l.plan = p
	l.set(2*p.Total() + headroom)
}

// loaded sets the limit for all that follows: a second context, for
// embeddings, is as large as the first one at most.
func (l *limit) loaded() {
	debug.SetMemoryLimit(heap)
	used, err := confine.MemoryUsed()
	if err != nil {
		l.log.Debug("the memory of the process is not limited", "err", err)
		return
	}
	l.set(used + l.plan.Cache + l.plan.Buffers + headroom)
}

func (l *limit) set(bytes int64) {
	if err := confine.LimitMemory(bytes); err != nil {
		l.log.Debug("the memory of the process is not limited", "err", err)
		return
	}
	l.log.Info("memory limited", "bytes", units.HumanSize(float64(bytes)))
}

// available is what the machine has, and no more than the model may take, as
// [llamacpp.Options] wants it.
func (m Model) available() (int64, error) {
	free, err := memory.Available()
	switch {
	case m.Memory == 0:
		return free, err
	case err != nil:
		return int64(m.Memory), nil
	}
	return min(free, int64(m.Memory)), nil
}

// ShareCores makes Go use one in share of the cores, unless the operator has
// said how many. What Go does beside a model is little, and a core on which
// its scheduler looks for more is one that llama.cpp's threads, on the others,
// wait for.
func ShareCores(getenv func(string) string, share int) {
	if getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0)/share, 1))
	}
}
