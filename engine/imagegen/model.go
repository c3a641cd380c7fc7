package imagegen

import (
	"context"
	"image"
	"time"
)

// Model is a model that draws. It is safe for concurrent use.
type Model interface {
	// Info describes the model; it does not change.
	Info() Info

	// Draw draws one picture of the size that the job says. The same job gives
	// the same picture. Errors are of type *engine.Error. Ending ctx ends the
	// work.
	Draw(ctx context.Context, job Job) (image.Image, error)

	// Close frees the model. Running Draws end with an error.
	Close() error
}

// Info is what a model says about itself.
type Info struct {
	Name    string
	Owner   string // empty: as the name says
	Changed time.Time
	Sizes   Sizes
}

// Sizes are the pictures that a model can draw, in pixels.
type Sizes struct {
	Least, Most int // of each side
	Step        int // each side is a multiple of it
	Usual       image.Point
}

// Job is one picture to draw.
type Job struct {
	Prompt  string
	Size    image.Point // one of [Sizes]
	Seed    uint64
	Quality string // as in engine.ImageRequest
	Style   string // as in engine.ImageRequest
}
