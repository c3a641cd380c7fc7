package imagegen

import (
	"cmp"
	"context"
	"image"
	"iter"
	"log/slog"

	"github.com/diglot/diglot/engine"
)

// Engine is an [engine.Engine] over one [Model]. It is safe for concurrent
// use.
type Engine struct {
	model Model
	info  Info
	seed  func() uint64
	queue queue
}

var _ engine.Engine = (*Engine)(nil)

// New returns an Engine over model. seed returns the seed of a request's first
// image; each further image has the next number. Requests draw one at a time; log
// says which place in the queue a request has.
func New(model Model, seed func() uint64, log *slog.Logger) *Engine {
	step := func() (int, int) { return 0, 0 }
	if known, ok := model.(Stepper); ok {
		step = known.Step
	}
	return &Engine{model: model, info: model.Info(), seed: seed, queue: queue{log: log, step: step}}
}

// Models lists the one model.
func (e *Engine) Models(context.Context) ([]engine.Model, error) {
	return []engine.Model{{Name: e.info.Name, Owner: cmp.Or(e.info.Owner, engine.Owner(e.info.Name)), Changed: e.info.Changed, Draws: true}}, nil
}

// GenerateImages implements [engine.Engine]. Drawing does not wait for the reader: it
// is others' turn next.
func (e *Engine) GenerateImages(ctx context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var failure error
		events := make(chan engine.Event, max(req.Choices, 1)*(1+req.Previews)) // all, so that sending never blocks
		go func() {
			defer close(events)
			failure = e.generate(ctx, req, func(event engine.Event) { events <- event })
		}()
		for event := range events {
			if !yield(event, nil) {
				cancel()
				for range events { // until the step has ended
				}
				return
			}
		}
		if failure != nil {
			yield(nil, failure)
		}
	}
}

func (e *Engine) generate(ctx context.Context, req *engine.ImageRequest, emit func(engine.Event)) error {
	if !engine.SameModel(req.Model, e.info.Name) {
		return engine.ModelNotFound(req.Model)
	}
	size, err := e.size(req)
	if err != nil {
		return err
	}
	job := e.info.job(req, size)
	if !req.Drawing.Seeded {
		job.Seed = e.seed()
	}
	if c, ok := e.model.(Checker); ok {
		if err := c.Check(job); err != nil {
			return err
		}
	}
	n := max(req.Choices, 1)
	turn, refused := e.queue.enter(ctx, job, n)
	if refused != nil {
		return refused
	}
	defer e.queue.leave(turn)
	for i := range n {
		e.queue.began(turn)
		drawn := engine.Drawn{Choice: i, Width: size.X, Height: size.Y, Quality: applied(req.Quality), Background: "opaque"}
		job.Preview = nil
		if req.Previews > 0 {
			job.Preview = (&previews{most: req.Previews, file: req.File, drawn: drawn, emit: emit}).show
		}
		if drawn.Image, err = e.draw(ctx, job, req.File); err != nil {
			return err
		}
		e.queue.drew(turn)
		emit(drawn)
		job.Seed++
	}
	return nil
}

// size returns the size of the request, or an error if the model does not support
// it.
func (e *Engine) size(req *engine.ImageRequest) (image.Point, error) {
	if req.Width == 0 && req.Height == 0 {
		return e.info.Sizes.Default, nil
	}
	s := e.info.Sizes
	for _, side := range []int{req.Width, req.Height} {
		if side < s.Min || side > s.Max || side%s.Step != 0 {
			return image.Point{}, engine.Errorf(engine.CodeInvalidArgument,
				"The sides of images of the model %s must be multiples of %d from %d to %d pixels, not %dx%d.",
				e.info.Name, s.Step, s.Min, s.Max, req.Width, req.Height).At(engine.Place{Field: engine.FieldSize})
		}
	}
	if s.Pixels > 0 && req.Width*req.Height > s.Pixels {
		return image.Point{}, engine.Errorf(engine.CodeInvalidArgument,
			"Images of the model %s can have %d pixels, for which memory was free when it was loaded, such as %dx%d, and not %dx%d.",
			e.info.Name, s.Pixels, s.Default.X, s.Default.Y, req.Width, req.Height).At(engine.Place{Field: engine.FieldSize})
	}
	return image.Pt(req.Width, req.Height), nil
}

func (e *Engine) draw(ctx context.Context, job Job, file engine.ImageFile) (engine.Image, error) {
	if err := ctx.Err(); err != nil {
		return engine.Image{}, engine.AsError(err)
	}
	drawn, err := e.model.Draw(ctx, job)
	if err != nil {
		return engine.Image{}, err
	}
	data, err := encode(drawn, file, e.info.parameters(job))
	if err != nil {
		return engine.Image{}, engine.AsError(err)
	}
	return engine.Image{Data: data, MediaType: file.MediaType()}, nil
}

// Generate implements [engine.Engine]: it is not supported.
func (e *Engine) Generate(_ context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		yield(nil, e.unsupported(req.Model, "does not generate text"))
	}
}

// Count implements [engine.Engine]: it is not supported.
func (e *Engine) Count(_ context.Context, req *engine.Request) (int, error) {
	return 0, e.unsupported(req.Model, "has no tokens to count")
}

// Embed implements [engine.Engine]: it is not supported.
func (e *Engine) Embed(_ context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return nil, e.unsupported(req.Model, "makes no embeddings")
}

func (e *Engine) unsupported(model, what string) *engine.Error {
	if !engine.SameModel(model, e.info.Name) {
		return engine.ModelNotFound(model)
	}
	return engine.Errorf(engine.CodeUnsupported, "The model %s draws images and %s.", e.info.Name, what).
		At(engine.Place{Field: engine.FieldModel})
}
