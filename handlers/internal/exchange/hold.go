package exchange

import (
	"iter"

	"github.com/diglot/diglot/engine"
)

const (
	// textWeight is how many bytes of memory are reserved for each byte of an
	// answer that is held until it is whole: for itself, for what it is decoded
	// to, and for the reply.
	textWeight = 3

	// tokenWeight is for each token with its probability, and for each that
	// might have stood there.
	tokenWeight = 256

	// blockWeight is for each block, such as a call, however little it holds.
	blockWeight = 2 << 10
)

// Hold passes events on whose sum is held in memory, which is reserved as they
// come. Where there is no more the sequence ends with an error.
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

// reserve takes memory until the reply has been taken. The error says that there is
// no more.
func (x *Exchange) reserve(bytes int64) error {
	if x.Memory.Reserve(bytes) {
		return nil
	}
	if x.Memory.Exceeds(bytes) {
		never := engine.Errorf(engine.CodeInternal, "The answer is larger than what the server may hold of one.")
		never.NoRetry = true
		return never
	}
	full := engine.Errorf(engine.CodeOverloaded, "The answers under way take all memory that there is for them; try again later.")
	full.RetryAfter = 5
	return full
}

// What is held of replies without events, in bytes.
const (
	// numberWeight is for each number of a vector, which is written piece by piece.
	numberWeight = 8

	// pictureWeight is for each byte of a picture: for itself, in base64, and in
	// the reply.
	pictureWeight = 4

	// itemWeight is for each vector, picture or model beside it.
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

// HoldPictures reserves memory for pictures.
func (x *Exchange) HoldPictures(pictures []engine.Image) error {
	n := itemWeight * len(pictures)
	for _, p := range pictures {
		n += pictureWeight * len(p.Data)
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
	}
	return 0
}
