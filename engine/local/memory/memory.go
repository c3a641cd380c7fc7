package memory

import (
	"fmt"

	"github.com/diglot/diglot/engine/gguf"
)

// Files are what is loaded together, by their paths.
type Files struct {
	Model     string
	Projector string // empty: none
	Adapters  []string
}

// Options are what the size depends on.
type Options struct {
	// Context is how many tokens one request may use; 0: as many as the model
	// was trained with, as far as they fit.
	Context int

	// Parallel is how many requests are computed at the same time; 0:
	// [DefaultParallel].
	Parallel int

	// Threads that compute; below 1 is 1.
	Threads int
}

// DefaultParallel is how many requests a model computes at the same time if
// nobody says.
const DefaultParallel = 8

func (o Options) parallel() int {
	if o.Parallel <= 0 {
		return DefaultParallel
	}
	return o.Parallel
}

// Plan is what a model will take, in bytes of memory that the system cannot
// take back without slowing the model down.
type Plan struct {
	Weights int64 // of the model, its projector and its adapters
	Cache   int64 // room for what is read
	Buffers int64 // what computing takes, the vocabulary, and the process itself

	Context int // tokens that one request may use
	Cells   int // tokens that there is room for, of all requests together; 0: an encoder, which keeps none
}

// Total is the sum, in bytes.
func (p Plan) Total() int64 { return p.Weights + p.Cache + p.Buffers }

// Estimate says what a model takes with the context that is asked for, or that
// it was trained with.
func Estimate(files Files, options Options) (Plan, error) {
	m, err := open(files, options)
	if err != nil {
		return Plan{}, err
	}
	return m.plan(m.wanted(options)), nil
}

// Fit says what a model takes, if so many bytes are available. A context that
// nobody asked for is cut to what fits; where nothing does, or not what was
// asked for, the error is a [*DoesNotFit].
//
// Cells that nobody asked for take at most half of what the weights leave, so
// that other programs live.
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
	return m, nil
}

// Sizes of contexts, in tokens.
const (
	// cellStep is what llama.cpp rounds the number of cells to.
	cellStep = 256

	// beside is how many cells each request that runs beside others gets, where
	// there is memory for more than one full context.
	beside = 2048

	// Limits of what a model that is for embeddings alone reads at once, and in
	// pieces, where nobody asks for more.
	maxWhole = 2048
	maxInput = 8192
)

// contextFor is how many tokens a request may have if memory is no matter.
func (m *model) contextFor(o Options) int {
	if !m.embeds {
		if o.Context > 0 && (!m.placed || o.Context < m.trained) {
			return o.Context
		}
		return m.trained
	}
	limit := maxInput
	if m.whole {
		limit = maxWhole
	}
	if o.Context > 0 {
		limit = o.Context
	}
	return min(limit, m.trained)
}

// wanted is the context, and how many cells all requests share.
func (m *model) wanted(o Options) (context, cells int) {
	context = m.contextFor(o)
	if m.embeds {
		return context, roundUp(max(context, m.rows))
	}
	return context, roundUp(max(context, o.parallel()*min(context, beside)))
}

func roundUp(cells int) int { return (cells + cellStep - 1) / cellStep * cellStep }

func (m *model) fit(o Options, available int64) (Plan, error) {
	context, cells := m.wanted(o)
	least := min(roundUp(context), beside) // else there is no use for the model
	if o.Context > 0 || m.embeds {
		least = roundUp(context)
	}
	if affordable := m.cellsIn((available - m.fixed()) / 2); cells > affordable {
		cells = max(affordable, least)
	}
	plan := m.plan(min(context, cells), cells)
	if plan.Total() > available {
		return Plan{}, m.refuse(plan, available)
	}
	return plan, nil
}

// cellsIn is how many cells there is room for, in whole steps.
func (m *model) cellsIn(bytes int64) int {
	switch {
	case bytes < 0:
		return 0
	case m.perCell() == 0:
		return 1 << 30
	}
	return int(bytes/m.perCell()) / cellStep * cellStep
}

// plan sums up.
func (m *model) plan(context, cells int) Plan {
	p := Plan{
		Weights: m.weights,
		Cache:   add(times(m.cell, cells), m.state),
		Buffers: add(m.buffers, times(m.cellBuffers, cells)),
		Context: context,
		Cells:   cells,
	}
	if m.embeds && m.cell == 0 {
		p.Cells = 0
	}
	return p
}

// fixed is what is taken whatever the context, in bytes.
func (m *model) fixed() int64 { return m.weights + m.state + m.buffers }

// perCell is what another cell takes, in the cache and in the buffers.
func (m *model) perCell() int64 { return m.cell + m.cellBuffers }
