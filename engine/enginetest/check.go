package enginetest

import (
	"fmt"

	"github.com/diglot/diglot/engine"
)

// Check says whether events are one whole reply that succeeded, by the
// grammar in the documentation of package engine. The error names the place
// of the first event that is wrong.
func Check(events []engine.Event) error { return check(nil, events) }

// check is the same for the reply to a request, unless that is nil.
func check(req *engine.Request, events []engine.Event) error {
	s := engine.NewSequence(req)
	for i, e := range events {
		if err := s.Add(e); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return s.End()
}
