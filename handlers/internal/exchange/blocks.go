package exchange

import (
	"iter"

	"github.com/diglot/diglot/engine"
)

// Blocks leaves the reasoning out of an answer where the document withholds the
// component that it would be: no index may show that there was a block. It is for
// styles whose answers are one choice of blocks.
func (x *Exchange) Blocks(reasoning string, events iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	if o := x.asked(); o == nil || o.Sends(reasoning) {
		return events
	}
	return func(yield func(engine.Event, error) bool) {
		left, open := 0, false // blocks left out; the open one is
		for event, err := range events {
			switch v := event.(type) {
			case engine.BlockStart:
				if open = v.Kind == engine.BlockReasoning; open {
					left++
					continue
				}
				v.Index -= left
				event = v
			case engine.ReasoningDelta:
				continue
			case engine.TextDelta:
				v.Index -= left
				event = v
			case engine.ToolCallDelta:
				v.Index -= left
				event = v
			case engine.BlockStop:
				if open {
					open = false
					continue
				}
				v.Index -= left
				event = v
			}
			if !yield(event, err) {
				return
			}
		}
	}
}
