package process

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/imagegen"
	"github.com/diglot/diglot/engine/imagegen/sdcpp"
	"github.com/diglot/diglot/engine/local/confine"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/local/memory"
	"github.com/diglot/diglot/engine/local/runner"
)

// runImages serves an image model to the parent process until ctx ends.
//
// The library is loaded before the process is confined, because it is trusted and
// may need other libraries: what is mapped can be read afterwards.
func runImages(ctx context.Context, m Model, getenv func(string) string, log *slog.Logger) error {
	native, failed := sdcpp.Open(m.Imagegen, log)
	files := append(slices.Clone(m.Parts), m.Imagegen)
	return runner.RunChild(ctx, runner.Child{Files: files, State: getenv(confine.Marker), Open: func(_ context.Context, held confine.Held) (engine.Engine, error) {
		log.Info("process confined", "holds", held, "without", held.Without)
		if failed != nil {
			return nil, failed
		}
		return openImages(m, native, log)
	}})
}

func openImages(m Model, native *sdcpp.Library, log *slog.Logger) (engine.Engine, error) {
	parts, err := diffusion.Open(m.Parts)
	if err != nil {
		return nil, err
	}
	plan, err := planImages(m.Parts, int64(m.Memory))
	if err != nil {
		return nil, err
	}
	(&limit{log: log}).planned(plan)
	threads := int(m.Limits.Threads)
	if threads == 0 {
		threads = llamacpp.DefaultThreads()
	}
	options := sdcpp.Options{Name: m.Name, Parts: parts, Threads: threads, Log: log, Strengths: m.Changes.Strengths, Pixels: plan.Pixels, Cores: llamacpp.FreeCores(threads)}
	if info, err := os.Stat(m.Parts[0]); err == nil {
		options.Changed = info.ModTime()
	}
	model, err := native.Load(options)
	if err != nil {
		return nil, err
	}
	return drawing{imagegen.New(model, randomSeed, log), model}, nil
}

// randomSeed is below 2^32, which other programs accept, too.
func randomSeed() uint64 { return uint64(rand.Uint32()) }

// drawing reports the steps of a model, so that the parent's watchdog does not take
// a large image for a hang.
type drawing struct {
	engine.Engine
	model *sdcpp.Model
}

var (
	_ runner.Progress = drawing{}
	_ runner.Stepper  = drawing{}
)

func (d drawing) Steps() uint64 { return d.model.Steps() }

func (d drawing) Step() (step, of int) { return d.model.Step() }

// planImages plans the memory of an image model within what is free; 0: unknown.
func planImages(files []string, free int64) (memory.Plan, error) {
	m, err := diffusion.Open(files)
	if err != nil {
		return memory.Plan{}, err
	}
	usual := m.Family.Side * m.Family.Side
	a := m.Family.Attention
	return memory.FitImages(memory.Images{
		Weights: m.Memory(),
		Pixels:  usual,
		Most:    2 * usual, // 1024x1536 and 1792x1024 of a model for 1024x1024
		Tiny:    m.Path(diffusion.TAE) != "",
		Patch:   a.Patch, Heads: a.Heads, Width: a.Width,
	}, free)
}
