package library

import (
	"context"
	"iter"

	"github.com/diglot/diglot/engine"
)

// connection is the [Instance] of a remote model, which takes no memory. Close ends
// its requests, like those of a runner.
type connection struct {
	engine engine.Engine
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
}

var _ Instance = (*connection)(nil)

func newConnection(e engine.Engine) *connection {
	c := &connection{engine: e}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close implements [Instance].
func (c *connection) Close() error {
	c.cancel()
	return nil
}

// allowed fails if the engine reports that its server is not allowed.
func (c *connection) allowed() error {
	if p, ok := c.engine.(Permitter); ok {
		return p.Allowed()
	}
	return nil
}

// bind makes the context of a request end with the connection, too.
func (c *connection) bind(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// explain replaces the error of a request that Close ended.
func (c *connection) explain(err error) error {
	if err != nil && c.ctx.Err() != nil {
		return shutDown()
	}
	return err
}

// Models implements [engine.Engine].
func (c *connection) Models(ctx context.Context) ([]engine.Model, error) {
	return c.engine.Models(ctx)
}

// Generate implements [engine.Engine].
func (c *connection) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return c.events(ctx, func(ctx context.Context) iter.Seq2[engine.Event, error] { return c.engine.Generate(ctx, req) })
}

// events passes on the events of a request.
func (c *connection) events(ctx context.Context, ask func(context.Context) iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		ctx, done := c.bind(ctx)
		defer done()
		for event, err := range ask(ctx) {
			if !yield(event, c.explain(err)) {
				return
			}
		}
	}
}

// Count implements [engine.Engine].
func (c *connection) Count(ctx context.Context, req *engine.Request) (int, error) {
	ctx, done := c.bind(ctx)
	defer done()
	n, err := c.engine.Count(ctx, req)
	return n, c.explain(err)
}

// Embed implements [engine.Engine].
func (c *connection) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	ctx, done := c.bind(ctx)
	defer done()
	vectors, err := c.engine.Embed(ctx, req)
	return vectors, c.explain(err)
}

// GenerateImages implements [engine.Engine].
func (c *connection) GenerateImages(ctx context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return c.events(ctx, func(ctx context.Context) iter.Seq2[engine.Event, error] { return c.engine.GenerateImages(ctx, req) })
}
