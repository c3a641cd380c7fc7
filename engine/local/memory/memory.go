package memory

import (
	"fmt"

	"github.com/diglot/diglot/engine/gguf"
)

// Files are the paths of the files of a model.
type Files struct {
	Model     string
	Projector string // empty: none
	Adapters  []string
	Draft     string // a model that guesses tokens; empty: none
}

// Options are the settings that affect memory.
type Options struct {
	// Context is the most tokens of a request; 0: the training context, as far as
	// it fits.
	Context int

	// Parallel is how many requests are decoded concurrently; 0:
	// [DefaultParallel].
	Parallel int

	// Threads to compute with; below 1 is 1.
	Threads int

	// LaidOut are the types of weights that are laid out once, for products and
	// for lookups.
	LaidOut []string
}

// DefaultParallel is how many requests a model decodes concurrently by default.
const DefaultParallel = 8

func (o Options) parallel() int {
	if o.Parallel <= 0 {
		return DefaultParallel
	}
	return o.Parallel
}

// Plan is how much memory a model will use. Sizes are in bytes of memory that the
// kernel cannot reclaim without slowing the model down.
type Plan struct {
	Weights int64 // of the model, its projector, its adapters and its draft model
	Cache   int64 // KV cache and recurrent states
	Buffers int64 // activations, the vocabulary and the process itself

	Context int // most tokens of a request
	Cells   int // KV cells, shared by all requests; 0: an encoder, which needs none
	Pixels  int // most of an image; 0: a language model
}

// Total is the sum, in bytes.
func (p Plan) Total() int64 { return p.Weights + p.Cache + p.Buffers }

// Estimate plans a model with the requested context or its training context.
func Estimate(files Files, options Options) (Plan, error) {
	m, err := open(files, options)
	if err != nil {
		return Plan{}, err
	}
	return m.plan(m.sizes(options)), nil
}

// Fit plans a model in available bytes. Unless it was requested, the context is
// cut to what fits. If the model does not fit, the error is a [*DoesNotFit].
//
// KV cells beyond those requested take at most half of the memory that the weights
// leave, so that other programs have some.
func Fit(files Files, options Options, available int64) (Plan, error) {
	m, err := open(files, options)
	if err != nil {
		return Plan{}, err
	}
	return m.fit(options, available)
}

func open(files Files, options Options) (*model, error) {
	file, err := gguf.Open(files.Model)
	if err != nil {
		return nil, err
	}
	m := newModel(file, options)
	if files.Projector != "" {
		projector, err := gguf.Open(files.Projector)
		if err != nil {
			return nil, fmt.Errorf("the projector: %w", err)
		}
		m.addProjector(projector)
	}
	for _, path := range files.Adapters {
		adapter, err := gguf.Open(path)
		if err != nil {
			return nil, fmt.Errorf("an adapter: %w", err)
		}
		m.weights += bytesOf(adapter)
	}
	if files.Draft != "" {
		draft, err := gguf.Open(files.Draft)
		if err != nil {
			return nil, fmt.Errorf("the draft model: %w", err)
		}
		m.addDraft(newModel(draft, options))
	}
	return m, nil
}

// Sizes of contexts, in tokens.
const (
	// cellStep is what llama.cpp rounds the number of KV cells up to.
	cellStep = 256

	// defaultCells is how many KV cells each parallel request gets if memory
	// suffices, and the minimum useful context.
	defaultCells = 2048

	// Default limits of the inputs of an embedding model, for those that must fit
	// one batch and for others.
	maxWholeInput = 2048
	maxInput      = 8192
)

// contextFor is the context without regard to memory.
func (m *model) contextFor(o Options) int {
	if !m.embedsOnly {
		if o.Context > 0 && (!m.learnedPositions || o.Context < m.trained) {
			return o.Context
		}
		return m.trained
	}
	limit := maxInput
	if m.wholeInput {
		limit = maxWholeInput
	}
	if o.Context > 0 {
		limit = o.Context
	}
	return min(limit, m.trained)
}

// sizes is the context and the number of KV cells without regard to memory.
func (m *model) sizes(o Options) (context, cells int) {
	context = m.contextFor(o)
	if m.embedsOnly {
		return context, roundUp(max(context, m.rows))
	}
	return context, roundUp(max(context, o.parallel()*min(context, defaultCells)))
}

func roundUp(cells int) int { return (cells + cellStep - 1) / cellStep * cellStep }

func (m *model) fit(o Options, available int64) (Plan, error) {
	context, cells := m.sizes(o)
	least := min(roundUp(context), defaultCells)
	if o.Context > 0 || m.embedsOnly {
		least = roundUp(context)
	}
	if affordable := m.cellsFor((available - m.fixed()) / 2); cells > affordable {
		cells = max(affordable, least)
	}
	plan := m.plan(min(context, cells), cells)
	if plan.Total() > available {
		return Plan{}, m.refuse(plan, available)
	}
	return plan, nil
}

// cellsFor is how many KV cells fit.
func (m *model) cellsFor(bytes int64) int {
	switch {
	case bytes < 0:
		return 0
	case m.perCell() == 0:
		return 1 << 30
	}
	return int(bytes/m.perCell()) / cellStep * cellStep
}

func (m *model) plan(context, cells int) Plan {
	p := Plan{
		Weights: m.weights,
		Cache:   add(times(m.cell, cells), m.state),
		Buffers: add(m.buffers, times(m.cellBuffers, cells)),
		Context: context,
		Cells:   cells,
	}
	if m.embedsOnly && m.cell == 0 {
		p.Cells = 0
	}
	return p
}

// fixed is the memory in bytes that does not depend on the context.
func (m *model) fixed() int64 { return m.weights + m.state + m.buffers }

// perCell is the memory in bytes of a KV cell, in the cache and in buffers.
func (m *model) perCell() int64 { return m.cell + m.cellBuffers }
