package decode

import (
	"context"
	"slices"
	"sync"

	"github.com/diglot/diglot/engine"
)

// VectorBackend computes embeddings. Only Interrupt may be called concurrently.
type VectorBackend interface {
	// Decode computes a batch. Entries with Logits set contribute to the vector
	// of their sequence.
	Decode(batch []Entry) Outcome

	// Vector returns the vector of a sequence that ended in this row of the last
	// batch. The memory is llama.cpp's, valid until the next decode.
	Vector(sequence, row int) ([]float32, bool)

	// Clear removes all sequences.
	Clear()

	// Interrupt aborts a running decode, and further ones until Resume.
	Interrupt()
	Resume()
	Free()
}

// EmbeddingLimits are the limits of a batch of inputs.
type EmbeddingLimits struct {
	// WholeInput: each input must fit one batch and all its tokens contribute,
	// as attention is not causal or pooling takes all tokens. Otherwise inputs
	// are prefilled in chunks, and only the last token contributes.
	WholeInput bool
	Rows       int // most tokens in a batch; with WholeInput, any input fits
	Fill       int // most tokens in a batch of several inputs
	Sequences  int // most inputs in a batch
}

// embedder embeds one batch at a time, and lets requests take turns between
// batches so that a short one does not wait for a long one.
type embedder struct {
	limits EmbeddingLimits
	open   func() (VectorBackend, error) // called on first use

	mu      sync.Mutex // held while a batch is computed
	backend VectorBackend

	closing context.Context
	close   context.CancelFunc
}

func newEmbedder(limits EmbeddingLimits, open func() (VectorBackend, error)) *embedder {
	closing, cancel := context.WithCancel(context.Background())
	return &embedder{limits: limits, open: open, closing: closing, close: cancel}
}

// embed makes the vector of each input.
func (e *embedder) embed(ctx context.Context, inputs [][]int32) ([][]float32, *engine.Error) {
	vectors := make([][]float32, len(inputs))
	for _, group := range e.limits.pack(inputs) {
		if err := e.compute(ctx, inputs, group, vectors); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// pack groups inputs into batches, by their indexes.
func (s EmbeddingLimits) pack(inputs [][]int32) [][]int {
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
	batch := e.limits.entries(inputs, group)
	for len(batch) > 0 {
		n := min(len(batch), e.limits.Rows)
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

// entries concatenates the inputs of a group, each as a sequence of its own.
func (s EmbeddingLimits) entries(inputs [][]int32, group []int) []Entry {
	var batch []Entry
	for sequence, i := range group {
		for k, token := range inputs[i] {
			last := k == len(inputs[i])-1
			batch = append(batch, Entry{Token: token, Position: int32(k), Sequence: int32(sequence), Logits: s.WholeInput || last})
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
			return engine.Errorf(engine.CodeInternal, "The model returned no vector.")
		}
		vectors[i] = slices.Clone(vector)
	}
	return nil
}

// decode computes one batch, and aborts it when the request is canceled or the
// model closed.
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
		<-interrupted // otherwise it could interrupt the next batch
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

// free interrupts the running decode and frees the backend.
func (e *embedder) free() {
	e.close()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.backend != nil {
		e.backend.Free()
		e.backend = nil
	}
}
