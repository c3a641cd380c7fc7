//go:build !((linux || darwin) && (amd64 || arm64))

package sdcpp

import (
	"context"
	"image"
	"log/slog"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/imagegen"
)

// Library is a loaded library. On this system there is none.
type Library struct{}

// Open fails.
func Open(string, *slog.Logger) (*Library, error) {
	return nil, engine.Errorf(engine.CodeUnsupported, "The image engine does not run on this system.")
}

// Options describe a model to load.
type Options struct {
	Name    string
	Changed time.Time
	Parts   diffusion.Model
	Threads int
	Log     *slog.Logger

	Pixels    int
	Strengths []float64
	Cores     func() int
}

// Load fails.
func (*Library) Load(Options) (*Model, error) { _, err := Open("", nil); return nil, err }

// Model is a loaded model.
type Model struct{}

var _ imagegen.Model = (*Model)(nil)

// Info implements [imagegen.Model].
func (*Model) Info() imagegen.Info { return imagegen.Info{} }

// Check implements [imagegen.Checker].
func (*Model) Check(imagegen.Job) error { _, err := Open("", nil); return err }

// Steps counts nothing.
func (*Model) Steps() uint64 { return 0 }

// Step is 0 of 0.
func (*Model) Step() (step, of int) { return 0, 0 }

// Draw implements [imagegen.Model].
func (*Model) Draw(context.Context, imagegen.Job) (image.Image, error) {
	_, err := Open("", nil)
	return nil, err
}

// Close implements [imagegen.Model].
func (*Model) Close() error { return nil }
