package llamacpp

import (
	"log/slog"

	"github.com/diglot/diglot/engine/local/memory"
)

// Options configure [Open].
type Options struct {
	// Path is the GGUF file, or the first part of a split one.
	Path string

	// Projector is the GGUF file (mmproj) for image input; empty: none.
	Projector string

	// Adapters are LoRA files in GGUF, applied at scale 1.
	Adapters []string

	// Threads is the most threads to compute with; 0: one per physical core. Fewer
	// compute while other processes need the cores.
	Threads int

	// Parallel is how many requests are decoded concurrently; 0: 8.
	Parallel int

	// Context is the most tokens of a request, prompt and output; 0: the
	// training context, as far as memory allows.
	Context int

	// Kernels of matrix products: [KernelsOwn] or [KernelsGGML].
	Kernels Kernels

	// NoDraft turns off guesses of further tokens, which make generation faster
	// where they hold and change no text.
	NoDraft bool

	// Draft is the GGUF file of a smaller model with the same vocabulary, which
	// guesses further tokens; empty: none.
	Draft string

	// Available returns how many bytes of memory may be used; nil:
	// [memory.Available].
	Available func() (int64, error)

	// Planned is called with the memory plan before loading; may be nil.
	Planned func(memory.Plan)

	// Log gets llama.cpp's messages; nil: none.
	Log *slog.Logger
}

// MaxParallel limits Options.Parallel: llama.cpp has 256 sequences, and cached
// prefixes need some, too.
const MaxParallel = 64

func (o Options) withDefaults() Options {
	if o.Threads <= 0 {
		o.Threads = DefaultThreads()
	}
	if o.Parallel <= 0 {
		o.Parallel = memory.DefaultParallel
	}
	o.Parallel = min(o.Parallel, MaxParallel)
	if o.NoDraft {
		o.Draft = ""
	}
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
