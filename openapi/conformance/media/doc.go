// Package media has the promises of a server about what is not text: vectors of embeddings,
// images that a model draws, and images that it sees.
package media

import (
	"slices"

	"github.com/diglot/diglot/openapi/conformance"
)

// All returns the scenarios.
func All() []conformance.Scenario {
	return slices.Concat(embeddings(), drawings(), drawingStreams(), sights())
}
