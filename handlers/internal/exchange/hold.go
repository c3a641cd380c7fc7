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
			if err == nil && !x.Memory.Reserve(weigh(event)) {
				full := engine.Errorf(engine.CodeOverloaded, "The answers under way take all memory that there is for them; try again later.")
				full.RetryAfter = 5
				yield(nil, full)
				return
			}
			if !yield(event, err) {
				return
			}
		}
	}
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
