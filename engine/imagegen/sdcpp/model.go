//go:build (linux || darwin) && (amd64 || arm64)

package sdcpp

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/imagegen"
)

// Options describe a model to load.
type Options struct {
	Name    string
	Changed time.Time
	Parts   diffusion.Model
	Pixels  int          // most of an image; 0: as the sides allow
	Threads int          // 0: as many as the library chooses
	Log     *slog.Logger // required

	// Strengths are those of the LoRAs, in their order. The last one is also that of
	// all further LoRAs; none: 1.
	Strengths []float64

	// Cores returns how many threads should compute the next step. Nil: Threads.
	Cores func() int
}

// Model is a loaded model. It draws one image at a time.
type Model struct {
	library *Library
	context uintptr
	options Options
	loras   []lora
	turn    chan struct{} // held while drawing
	steps   atomic.Uint64 // of all drawings
	step    atomic.Uint64 // of the image that is being drawn, and in the upper half how many it has
}

var _ imagegen.Model = (*Model)(nil)

// Load loads a model, of which a library can have one at a time.
func (l *Library) Load(o Options) (*Model, error) {
	p := o.Parts
	files := paths{
		model:     cString(p.Path(diffusion.Whole)),
		diffusion: cString(p.Path(diffusion.Diffusion)),
		clipL:     cString(p.Path(diffusion.ClipL)),
		clipG:     cString(p.Path(diffusion.ClipG)),
		t5xxl:     cString(p.Path(diffusion.T5)),
		llm:       cString(p.Path(diffusion.LLM)),
		vae:       cString(p.Path(diffusion.VAE)),
		tae:       cString(p.Path(diffusion.TAE)),
	}
	c := l.load(&files, int64(o.Threads))
	runtime.KeepAlive(&files)
	reason := l.log.reason()
	if c == 0 {
		return nil, unusable(errors.New(reason))
	}
	if !l.images(c) {
		l.free(c)
		return nil, unusable(errors.New("the model makes videos"))
	}
	m := &Model{library: l, context: c, options: o, turn: make(chan struct{}, 1), loras: lorasOf(o)}
	if err := m.tryLoRAs(); err != nil {
		l.free(c)
		return nil, err
	}
	return m, nil
}

// unusable is the error for files that the library cannot load. Retrying does not
// help.
func unusable(err error) *engine.Error {
	e := engine.Errorf(engine.CodeUnsupported, "The model's files cannot be loaded by the image engine.").
		At(engine.Place{Field: engine.FieldModel}).Because(err)
	e.NoRetry = true
	return e
}

// Info implements [imagegen.Model].
func (m *Model) Info() imagegen.Info {
	f := m.options.Parts.Family
	return imagegen.Info{
		Name:     m.options.Name,
		Changed:  m.options.Changed,
		Sizes:    imagegen.Sizes{Min: diffusion.MinSide, Max: diffusion.MaxSide, Step: f.Step, Pixels: m.options.Pixels, Default: image.Pt(f.Side, f.Side)},
		Steps:    f.Steps,
		Guidance: f.Guidance,
		Software: "stable-diffusion.cpp",
	}
}

// progressTime is how much of the processor's time counts as a step. Encoding a long
// prompt and decoding a large image can take minutes, in which no step ends.
const progressTime = 10 * time.Second

// Steps counts the steps of all images so far, and the time that they took. It
// stands still only while nothing is computed.
func (m *Model) Steps() uint64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return m.steps.Load()
	}
	return m.steps.Load() + uint64(time.Duration(used.Utime.Nano())/progressTime)
}

// Step is the last finished step of the image that is being drawn, and how many it
// has. 0 of 0: none is.
func (m *Model) Step() (step, of int) {
	both := m.step.Load()
	return int(uint32(both)), int(both >> 32)
}

// Draw implements [imagegen.Model]. When ctx ends it returns after the step that is
// being computed; encoding the prompt and decoding the image are not interrupted.
func (m *Model) Draw(ctx context.Context, job imagegen.Job) (image.Image, error) {
	p, err := m.picture(job)
	if err != nil {
		return nil, err
	}
	select {
	case m.turn <- struct{}{}:
		defer func() { m.step.Store(0); <-m.turn }()
	case <-ctx.Done():
		return nil, engine.AsError(ctx.Err())
	}
	log := m.options.Log
	start := time.Now()
	m.share()
	m.library.each = func(step, steps int) bool {
		m.steps.Add(1)
		m.step.Store(uint64(steps)<<32 | uint64(step))
		m.share()
		log.Info("drawing", "step", step, "of", steps, "took", time.Since(start))
		return ctx.Err() != nil
	}
	m.watch(job)
	drawn := m.library.draw(m.context, p, m.library.step)
	runtime.KeepAlive(p)
	reason := m.library.log.reason()
	switch {
	case drawn == nil && ctx.Err() != nil:
		return nil, engine.AsError(ctx.Err())
	case drawn == nil:
		return nil, engine.Errorf(engine.CodeInternal, "The image engine failed to draw the image.").Because(errors.New(reason))
	}
	defer m.library.discard(drawn)
	return copyOf(drawn, job.Size)
}

// The library's kinds of previews. A projection of the latents costs next to nothing,
// and is known for all families.
const (
	noPreview  = 0
	projection = 1
)

// watch passes on the unfinished images of a job that wants them.
func (m *Model) watch(job imagegen.Job) {
	if job.Preview == nil {
		m.library.preview(0, noPreview, 1, false, false, 0)
		return
	}
	m.library.show = func(step int, unfinished *pixels) {
		if small := unfinished.image(); small != nil && step > 0 { // some samplers take half steps, below 0
			job.Preview(step, job.Steps, small)
		}
	}
	m.library.preview(m.library.shown, projection, 1, true, false, 0)
}

// share limits the threads of the next step.
func (m *Model) share() {
	if m.options.Cores != nil {
		m.library.limit(int64(m.options.Cores()))
	}
}

// Check implements [imagegen.Checker].
func (m *Model) Check(job imagegen.Job) error {
	_, err := m.picture(job)
	return err
}

// picture is the library's form of a job.
func (m *Model) picture(job imagegen.Job) (*picture, error) {
	if err := m.checkPrompts(job); err != nil {
		return nil, err
	}
	p := &picture{
		loras: unsafe.SliceData(m.loras), loraCount: int64(len(m.loras)),
		prompt: cString(job.Prompt), negative: cString(job.NegativePrompt),
		width: int64(job.Size.X), height: int64(job.Size.Y),
		seed:  int64(job.Seed & (1<<63 - 1)), // a negative one would be random
		steps: int64(job.Steps), guidance: job.Guidance,
		sampler: libraryDefault, scheduler: libraryDefault,
	}
	for _, named := range []struct {
		what, name string
		names      []string
		number     *int64
	}{{"sampler", job.Sampler, diffusion.Samplers(), &p.sampler}, {"scheduler", job.Scheduler, diffusion.Schedulers(), &p.scheduler}} {
		if named.name == "" {
			continue
		}
		n := slices.Index(named.names, named.name)
		if n < 0 {
			return nil, engine.Errorf(engine.CodeInvalidArgument, "The image engine has no %s %q.", named.what, named.name)
		}
		*named.number = int64(n)
	}
	return p, nil
}

// libraryDefault leaves a choice to the library.
const libraryDefault = -1

// colours are the channels of a picture: red, green and blue.
const colours = 3

// copyOf copies an image out of the library's memory.
func copyOf(drawn *pixels, size image.Point) (image.Image, error) {
	if int(drawn.width) != size.X || int(drawn.height) != size.Y || drawn.channels != colours || drawn.data == nil {
		return nil, engine.Errorf(engine.CodeInternal, "The image engine drew an image of another size.").
			Because(fmt.Errorf("%dx%d with %d channels instead of %dx%d", drawn.width, drawn.height, drawn.channels, size.X, size.Y))
	}
	return drawn.image(), nil
}

// maxPixels is more than any image has.
const maxPixels = 1 << 28

// image copies an image; nil: it is none.
func (drawn *pixels) image() image.Image {
	size := image.Pt(int(drawn.width), int(drawn.height))
	if size.X == 0 || size.Y == 0 || size.X > maxPixels/size.Y || drawn.channels != colours || drawn.data == nil {
		return nil
	}
	from := unsafe.Slice(drawn.data, size.X*size.Y*colours)
	to := image.NewNRGBA(image.Rectangle{Max: size})
	for i := range size.X * size.Y {
		copy(to.Pix[4*i:], from[colours*i:colours*(i+1)])
		to.Pix[4*i+3] = 0xff
	}
	return to
}

// Close implements [imagegen.Model]. It waits for the image that is being drawn.
func (m *Model) Close() error {
	m.turn <- struct{}{} // forever
	m.library.free(m.context)
	return nil
}
