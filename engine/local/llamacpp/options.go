package llamacpp

import (
	"log/slog"

	"github.com/diglot/diglot/engine/local/memory"
)

// Options says what to load and what it may use.
type Options struct {
	// Path is the GGUF file; of a file that is split into parts, the first.
	Path string

	// Projector is the GGUF file that lets the model see images; empty: it
	// sees none.
	Projector string

	// Adapters are LoRA files in GGUF that change the model, all of them at
	// full strength.
	Adapters []string

	// Threads that compute; 0: one for each physical core, and fewer while
	// other programs keep the machine busy.
	Threads int

	// Parallel is how many requests are computed at the same time; more wait.
	// 0: 8.
	Parallel int

	// Context is how many tokens one request may use, prompt and answer; 0:
	// as many as the model was trained with, as far as memory allows.
	Context int

	// Available says how many bytes of memory may be taken; nil:
	// [memory.Available].
	Available func() (int64, error)

	// Planned is told what the model will take, before it is loaded; nil: nobody is.
	Planned func(memory.Plan)

	// Log gets llama.cpp's own messages; nil: none.
	Log *slog.Logger

	fixedThreads bool // Threads was given
}

// MaxParallel is the most requests that one model computes at the same time:
// llama.cpp has 256 sequences, and each kept prefix needs one too.
const MaxParallel = 64

func (o Options) withDefaults() Options {
	o.fixedThreads = o.Threads > 0
	if !o.fixedThreads {
		o.Threads = DefaultThreads()
	}
	if o.Parallel <= 0 {
		o.Parallel = memory.DefaultParallel
	}
	o.Parallel = min(o.Parallel, MaxParallel)
	if o.Available == nil {
		o.Available = memory.Available
	}
	if o.Planned == nil {
		o.Planned = func(memory.Plan) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
