package mock

import (
	"context"
	"image"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/imagegen"
	"github.com/diglot/diglot/engine/imagegen/testcard"
)

// Missing is the name of the model that is never served.
const Missing = "missing"

// Config configures an [Engine].
type Config struct {
	Models []string // the names that are listed; none: "mock"
	Only   bool     // serve no other names
	Log    *slog.Logger
	Clock  func() time.Time // of chat templates
}

// Engine is an [engine.Engine] whose replies are made from their requests. It is safe for
// concurrent use.
type Engine struct {
	names []string
	only  bool
	text  *chat.Engine
	image *imagegen.Engine
	model *model
}

var _ engine.Finder = (*Engine)(nil)

// New returns an Engine.
func New(c Config) (*Engine, error) {
	m := newModel()
	text, err := chat.New(m, c.Log, c.Clock)
	if err != nil {
		return nil, err
	}
	names := slices.Compact(slices.Sorted(slices.Values(c.Models)))
	if len(names) == 0 {
		names = []string{name}
	}
	return &Engine{names: names, only: c.Only, text: text, image: imagegen.New(cards{}, func() uint64 { return 0 }, c.Log), model: m}, nil
}

// Close ends the running requests.
func (e *Engine) Close() error { return e.model.Close() }

// Models implements [engine.Engine].
func (e *Engine) Models(context.Context) ([]engine.Model, error) {
	models := make([]engine.Model, len(e.names))
	for i, name := range e.names {
		models[i] = describe(name)
	}
	return models, nil
}

func describe(name string) engine.Model {
	return engine.Model{Name: name, Owner: engine.Owner(name), Context: Context}
}

// FindModel implements [engine.Finder].
func (e *Engine) FindModel(_ context.Context, name string) (engine.Model, error) {
	if err := e.check(name); err != nil {
		return engine.Model{}, err
	}
	return describe(name), nil
}

// check returns the error of a name that is not served.
func (e *Engine) check(name string) error {
	listed := slices.ContainsFunc(e.names, func(n string) bool { return engine.SameModel(n, name) })
	if listed || !e.only && !engine.SameModel(name, Missing) {
		return nil
	}
	return engine.ModelNotFound(name)
}

// Generate implements [engine.Engine].
func (e *Engine) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	if err := e.check(req.Model); err != nil {
		return func(yield func(engine.Event, error) bool) { yield(nil, err) }
	}
	return e.text.Generate(ctx, renamed(req))
}

// renamed is req for the raw model.
func renamed(req *engine.Request) *engine.Request {
	own := *req
	own.Model = name
	return &own
}

// Count implements [engine.Engine].
func (e *Engine) Count(ctx context.Context, req *engine.Request) (int, error) {
	if err := e.check(req.Model); err != nil {
		return 0, err
	}
	return e.text.Count(ctx, renamed(req))
}

// Embed implements [engine.Engine].
func (e *Engine) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	if err := e.check(req.Model); err != nil {
		return nil, err
	}
	own := *req
	own.Model = name
	return e.text.Embed(ctx, &own)
}

// GenerateImages implements [engine.Engine].
func (e *Engine) GenerateImages(ctx context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	if err := e.check(req.Model); err != nil {
		return func(yield func(engine.Event, error) bool) { yield(nil, err) }
	}
	own := *req
	own.Model = name
	return e.image.GenerateImages(ctx, &own)
}

// cards is the model that draws.
type cards struct{}

// Info implements [imagegen.Model].
func (cards) Info() imagegen.Info { return imagegen.Info{Name: name, Sizes: testcard.Sizes()} }

// Close implements [imagegen.Model].
func (cards) Close() error { return nil }

// Draw implements [imagegen.Model].
func (cards) Draw(ctx context.Context, job imagegen.Job) (image.Image, error) {
	if err := ctx.Err(); err != nil {
		return nil, engine.AsError(err)
	}
	return testcard.DrawSteps(job), nil
}
