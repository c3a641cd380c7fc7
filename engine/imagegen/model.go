package imagegen

import (
	"context"
	"image"
	"time"
)

// Model is an image model. It is safe for concurrent use.
type Model interface {
	// Info describes the model; it does not change.
	Info() Info

	// Draw generates one image. The same job gives the same image. Errors are of
	// type *engine.Error. Canceling ctx ends the work.
	Draw(ctx context.Context, job Job) (image.Image, error)

	// Close frees the model. Running Draws end with an error.
	Close() error
}

// Checker is an optional interface of models that know before drawing what they
// cannot draw.
type Checker interface {
	// Check returns the error that Draw would return for the job.
	Check(job Job) error
}

// Stepper is an optional interface of models that know how far they are.
type Stepper interface {
	// Step is the last finished step of the image that is being drawn, and how many
	// it has. 0 of 0: none is.
	Step() (step, of int)
}

// Info describes a model.
type Info struct {
	Name    string
	Owner   string // default: [engine.Owner]
	Changed time.Time
	Sizes   Sizes

	// Defaults of a diffusion model; zero: the model is of another kind, to which
	// quality and style mean something else.
	Steps    int
	Guidance float64

	// Software is named in files; empty: nothing is written into them.
	Software string
}

// Sizes are the image sizes that a model supports, in pixels.
type Sizes struct {
	Min, Max int // of each side
	Step     int // each side is a multiple of this
	Pixels   int // most of an image, for which memory is planned; 0: any
	Default  image.Point
}

// Job is one image to generate.
type Job struct {
	Prompt  string
	Size    image.Point // one of [Sizes]
	Seed    uint64
	Quality string // as in engine.ImageRequest
	Style   string // as in engine.ImageRequest

	// Of diffusion models.
	Steps              int
	Guidance           float64
	Sampler, Scheduler string // empty: the model's default
	NegativePrompt     string

	// Preview, if set, is called after steps with the unfinished image, which may be
	// smaller. It may use the image only until it returns.
	Preview func(step, of int, unfinished image.Image)
}
