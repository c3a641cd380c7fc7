package enginetest

import (
	"fmt"

	"github.com/diglot/diglot/engine"
)

// Check validates the events of a complete, successful reply against the grammar
// of package engine. The error has the index of the first wrong event.
func Check(events []engine.Event) error { return check(nil, events) }

// check also validates against req, unless it is nil.
func check(req *engine.Request, events []engine.Event) error {
	s := engine.NewSequence(req)
	for i, e := range events {
		if err := s.Add(e); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return s.End()
}
