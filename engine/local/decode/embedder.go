package decode

import (
	"context"
	"slices"
	"sync"

	"github.com/diglot/diglot/engine"
)

// VectorBackend computes vectors. One goroutine at a time uses it, save for
// interrupt.
type VectorBackend interface {
	// Decode reads the batch. An entry whose logits are wanted counts for
	// the vector of its sequence.
	Decode(batch []Entry) Outcome

	// Vector is that of a sequence which ended in the given row of the last
	// decode. The memory is llama.cpp's, valid until the next decode.
	Vector(sequence, row int) ([]float32, bool)

	// Clear forgets all sequences.
	Clear()

	// Interrupt makes a running decode stop soon; resume allows decoding again.
	Interrupt()
	Resume()
	Free()
}

// EmbedShape says what a batch of inputs may be like.
type EmbedShape struct {
	// Whole says that an input is read at once, and that all its tokens count:
	// each sees those behind it, or the vector is made of all of them. Else an
	// input is read in pieces, and its last token counts.
	Whole     bool
	Rows      int // most tokens of a batch; any input fits, if it must be read at once
	Fill      int // how many tokens a batch of several inputs has at most
	Sequences int // most inputs in a batch
}

// embedder turns inputs into vectors, for one request after the other: batch
// by batch, so that a short request waits for no long one.
type embedder struct {
	shape EmbedShape
	open  func() (VectorBackend, error) // at the first use

	mu      sync.Mutex // held while a batch is computed
	backend VectorBackend

	closing context.Context
	close   context.CancelFunc
}

func newEmbedder(shape EmbedShape, open func() (VectorBackend, error)) *embedder {
	closing, cancel := context.WithCancel(context.Background())
	return &embedder{shape: shape, open: open, closing: closing, close: cancel}
}

// embed makes the vector of each input.
func (e *embedder) embed(ctx context.Context, inputs [][]int32) ([][]float32, *engine.Error) {
	vectors := make([][]float32, len(inputs))
	for _, group := range e.shape.pack(inputs) {
		if err := e.compute(ctx, inputs, group, vectors); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// pack groups the inputs, by their numbers, so that each group is computed
// together.
func (s EmbedShape) pack(inputs [][]int32) [][]int {
	var groups [][]int
	room := 0
	for i, input := range inputs {
		n := len(input)
		if last := len(groups) - 1; last >= 0 && n <= room && len(groups[last]) < s.Sequences {
			groups[last] = append(groups[last], i)
			room -= n
			continue
		}
		groups = append(groups, []int{i})
		room = s.Fill - n
	}
	return groups
}

// compute makes the vectors of one group.
func (e *embedder) compute(ctx context.Context, inputs [][]int32, group []int, vectors [][]float32) *engine.Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return engine.AsError(ctx.Err())
	case e.closing.Err() != nil:
		return ErrUnloaded()
	}
	if e.backend == nil {
		backend, err := e.open()
		if err != nil {
			return engine.AsError(err)
		}
		e.backend = backend
	}
	defer e.backend.Clear()
	batch := e.shape.entries(inputs, group)
	for len(batch) > 0 {
		n := min(len(batch), e.shape.Rows)
		if err := e.decode(ctx, batch[:n]); err != nil {
			return err
		}
		if err := e.collect(batch[:n], inputs, group, vectors); err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}

// entries writes the inputs of a group one behind the other, each as a
// sequence of its own.
func (s EmbedShape) entries(inputs [][]int32, group []int) []Entry {
	var batch []Entry
	for sequence, i := range group {
		for k, token := range inputs[i] {
			last := k == len(inputs[i])-1
			batch = append(batch, Entry{token, int32(k), int32(sequence), s.Whole || last})
		}
	}
	return batch
}

// collect copies the vectors of the inputs that end in a batch.
func (e *embedder) collect(batch []Entry, inputs [][]int32, group []int, vectors [][]float32) *engine.Error {
	for row, entry := range batch {
		i := group[entry.Sequence]
		if int(entry.Position) < len(inputs[i])-1 {
			continue
		}
		vector, ok := e.backend.Vector(int(entry.Sequence), row)
		if !ok {
			return engine.Errorf(engine.CodeInternal, "The model gave no vector.")
		}
		vectors[i] = slices.Clone(vector)
	}
	return nil
}

// decode reads one batch and stops early when the request or the model ends.
func (e *embedder) decode(ctx context.Context, batch []Entry) *engine.Error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.closing, cancel)()

	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		e.backend.Interrupt()
		close(interrupted)
	})
	result := e.backend.Decode(batch)
	if !stop() {
		<-interrupted // else it would hit the next batch
		e.backend.Resume()
	}
	switch {
	case e.closing.Err() != nil:
		return ErrUnloaded()
	case ctx.Err() != nil:
		return engine.AsError(ctx.Err())
	case result != Computed:
		return engine.Errorf(engine.CodeInternal, "The model could not compute an embedding.")
	}
	return nil
}

// free ends what is being computed and frees the backend.
func (e *embedder) free() {
	e.close()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.backend != nil {
		e.backend.Free()
		e.backend = nil
	}
}
