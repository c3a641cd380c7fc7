package exchange

import (
	"iter"

	"github.com/diglot/diglot/engine"
)

const (
	// textWeight is the bytes reserved per byte of an answer that is held until it is
	// complete: for the text, its decoded form, and the reply.
	textWeight = 3

	// tokenWeight is per token with log probability, alternatives included.
	tokenWeight = 256

	// blockWeight is per block, such as a call.
	blockWeight = 2 << 10
)

// Hold passes on events that are collected in memory, and reserves that memory. It ends
// with an error when there is none left.
func (x *Exchange) Hold(events iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for event, err := range events {
			if full := x.reserve(weigh(event)); err == nil && full != nil {
				yield(nil, full)
				return
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// HoldEach is Hold for events that are large and not collected: the memory of each is
// reserved until the next one but one, when it has been written.
func (x *Exchange) HoldEach(events iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		written, writing := int64(0), int64(0)
		for event, err := range events {
			size := weigh(event)
			if full := x.reserve(size); err == nil && full != nil {
				yield(nil, full)
				return
			}
			if !yield(event, err) {
				return
			}
			written, writing = writing, size
			x.Memory.Return(written)
		}
	}
}

// reserve reserves memory until the reply has been sent.
func (x *Exchange) reserve(bytes int64) error {
	if x.Memory.Reserve(bytes) {
		return nil
	}
	if x.Memory.Exceeds(bytes) {
		never := engine.Errorf(engine.CodeInternal, "The answer is larger than the memory for buffered replies.")
		never.NoRetry = true
		return never
	}
	full := engine.Errorf(engine.CodeOverloaded, "The memory for buffered replies is exhausted; try again later.")
	full.RetryAfter = 5
	return full
}

// Bytes reserved for replies without events.
const (
	// numberWeight is per number of a vector, which is written piece by piece.
	numberWeight = 8

	// imageWeight is per byte of an image: for the image, its base64, and the reply.
	imageWeight = 4

	// itemWeight is per vector, image or model, in addition.
	itemWeight = 1 << 10
)

// HoldVectors reserves memory for vectors.
func (x *Exchange) HoldVectors(vectors [][]float32) error {
	n := itemWeight * len(vectors)
	for _, v := range vectors {
		n += numberWeight * len(v)
	}
	return x.reserve(int64(n))
}

// HoldModels reserves memory for a list of models.
func (x *Exchange) HoldModels(models []engine.Model) error {
	return x.reserve(int64(itemWeight * len(models)))
}

func weigh(event engine.Event) int64 {
	switch e := event.(type) {
	case engine.BlockStart:
		return int64(blockWeight + textWeight*(len(e.CallID)+len(e.Name)))
	case engine.TextDelta:
		n := textWeight * len(e.Text)
		for _, token := range e.Logprobs {
			n += tokenWeight * (1 + len(token.Top))
		}
		return int64(n)
	case engine.ReasoningDelta:
		return int64(textWeight * len(e.Text))
	case engine.ToolCallDelta:
		return int64(textWeight * len(e.Arguments))
	case engine.Preview:
		return weigh(e.Drawn)
	case engine.Drawn:
		return int64(itemWeight + imageWeight*len(e.Image.Data))
	}
	return 0
}
