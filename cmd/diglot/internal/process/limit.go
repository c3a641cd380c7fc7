// Package process starts the runner process of a model, and is the program that
// runs in it.
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
	// headroom is what a runner may allocate, in bytes, after its model is
	// loaded: for requests, prompts, images and templates.
	headroom = 3 << 29

	// heap is Go's soft memory limit within headroom.
	heap = 1 << 30

	// heapOfLoad is where garbage collection begins before the model is loaded.
	heapOfLoad = 512 << 20
)

// limit sets the memory limit of a runner, so that an excess ends the runner
// and not another process of the machine.
type limit struct {
	log  *slog.Logger
	plan memory.Plan
}

// start puts off garbage collection while the model is loaded, and returns a function that
// ends that. Loading leaves little garbage, and the time until the first reply counts.
func (l *limit) start() (end func()) {
	percent := debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapOfLoad)
	return func() {
		debug.SetMemoryLimit(heap)
		debug.SetGCPercent(percent)
	}
}

// planned sets the limit for loading. It is twice the plan, because llama.cpp
// may reserve more memory than it writes to.
func (l *limit) planned(p memory.Plan) {
	l.plan = p
	l.set(2*p.Total() + headroom)
}

// loaded sets the limit after loading. It leaves space for a second context,
// for embeddings, which is at most as large as the first.
func (l *limit) loaded() {
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

// available is the machine's available memory, at most m.Memory, for
// [llamacpp.Options].
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

// ShareCores limits Go to 1/share of the cores unless GOMAXPROCS is set. Go has
// little to do here, and a core that its scheduler spins on holds up llama.cpp's
// threads on all others.
func ShareCores(getenv func(string) string, share int) {
	if getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0)/share, 1))
	}
}
