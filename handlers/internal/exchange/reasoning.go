package exchange

import (
	"iter"

	"github.com/diglot/diglot/engine"
)

// HideReasoning removes reasoning blocks if the document withholds their component, and
// renumbers the other blocks. It is for styles with one choice.
func (x *Exchange) HideReasoning(component string, events iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	if o := x.asked(); o == nil || o.Sends(component) {
		return events
	}
	return func(yield func(engine.Event, error) bool) {
		removed, open := 0, false // number of removed blocks; the current one is removed
		for event, err := range events {
			switch v := event.(type) {
			case engine.BlockStart:
				if open = v.Kind == engine.BlockReasoning; open {
					removed++
					continue
				}
				v.Index -= removed
				event = v
			case engine.ReasoningDelta:
				continue
			case engine.TextDelta:
				v.Index -= removed
				event = v
			case engine.ToolCallDelta:
				v.Index -= removed
				event = v
			case engine.BlockStop:
				if open {
					open = false
					continue
				}
				v.Index -= removed
				event = v
			}
			if !yield(event, err) {
				return
			}
		}
	}
}
