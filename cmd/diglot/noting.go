package main

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/diglot/diglot/engine"
)

// noting is the engine of a chat, of which a person hears, once, which of
// their settings it does not take.
type noting struct {
	engine.Engine
	notes io.Writer
	told  map[string]bool // settings
}

func newNoting(e engine.Engine, notes io.Writer) *noting {
	return &noting{Engine: e, notes: notes, told: map[string]bool{}}
}

// Generate implements [engine.Engine]. A chat has one request at a time.
func (n *noting) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for event, err := range n.Engine.Generate(ctx, req) {
			if start, ok := event.(engine.Start); ok {
				n.note(start.Ignored)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

func (n *noting) note(settings []string) {
	for _, s := range settings {
		if !n.told[s] {
			n.told[s] = true
			fmt.Fprintf(n.notes, "%s has no effect: whoever serves the model does not take it\n", s)
		}
	}
}
