package library

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
)

// silent is another server that takes requests and says nothing.
type silent struct {
	engine.Engine
	asked chan struct{}
}

func (s silent) wait(ctx context.Context) error {
	s.asked <- struct{}{}
	<-ctx.Done()
	return engine.AsError(ctx.Err())
}

func (s silent) Generate(ctx context.Context, _ *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) { yield(nil, s.wait(ctx)) }
}

func (s silent) Count(ctx context.Context, _ *engine.Request) (int, error) { return 0, s.wait(ctx) }

func (s silent) Embed(ctx context.Context, _ *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return nil, s.wait(ctx)
}

func (s silent) GenerateImages(ctx context.Context, _ *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) { yield(nil, s.wait(ctx)) }
}

// What another server owes an answer does not keep this one from ending, and
// the client hears of it.
func TestCloseEndsRemoteRequests(t *testing.T) {
	for _, test := range []struct {
		name string
		ask  func(context.Context, *Engine) error
	}{
		{"generate", func(ctx context.Context, e *Engine) error {
			for _, err := range e.Generate(ctx, &engine.Request{Model: "cloud"}) {
				return err
			}
			return nil
		}},
		{"count", func(ctx context.Context, e *Engine) error {
			_, err := e.Count(ctx, &engine.Request{Model: "cloud"})
			return err
		}},
		{"embed", func(ctx context.Context, e *Engine) error {
			_, err := e.Embed(ctx, &engine.EmbeddingRequest{Model: "cloud"})
			return err
		}},
		{"images", func(ctx context.Context, e *Engine) error {
			_, err := engine.CollectImages(e.GenerateImages(ctx, &engine.ImageRequest{Model: "cloud"}))
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHouse(t, Config{})
			h.put(t, "cloud", store.Config{RemoteHost: "https://host.example/v1", RemoteModel: "big"}, nil)
			far := silent{asked: make(chan struct{})}
			h.Engine.config.Upstream = func(context.Context, modelfile.Remote) (engine.Engine, error) { return far, nil }
			ended := make(chan error)
			go func() { ended <- test.ask(t.Context(), h.Engine) }()
			<-far.asked
			_ = h.Close()
			if err := <-ended; engine.AsError(err).Code != engine.CodeOverloaded {
				t.Errorf("the client sees %v", err)
			}

			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := test.ask(ctx, h.Engine); engine.AsError(err).Code != engine.CodeOverloaded {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// guarded is another server that may be asked, or may not.
type guarded struct {
	engine.Engine
	refused *error
}

func (g guarded) Allowed() error { return *g.refused }

// TestLoadOfWhatMayNotBeAsked refuses to say that a model is ready that no
// request would reach, and does not remember it.
func TestLoadOfWhatMayNotBeAsked(t *testing.T) {
	h := newHouse(t, Config{})
	defer h.Close()
	h.put(t, "cloud", store.Config{RemoteHost: "https://host.example/v1", RemoteModel: "big"}, nil)
	login := engine.Errorf(engine.CodeForbidden, "log in first")
	login.NoRetry = true
	var refused error = login
	h.Engine.config.Upstream = func(context.Context, modelfile.Remote) (engine.Engine, error) {
		return guarded{refused: &refused}, nil
	}
	for _, step := range []struct {
		name string
		err  error
		want int // loaded
	}{{"before", login, 0}, {"after a login", nil, 1}, {"after a logout", login, 0}} {
		refused = step.err
		if err := h.Load(t.Context(), "cloud"); !errors.Is(err, step.err) {
			t.Errorf("%s: error %v, want %v", step.name, err, step.err)
		}
		stays := slices.DeleteFunc(h.Loaded(), func(l Loaded) bool { return l.Stopping })
		if n := len(stays); n != step.want {
			t.Errorf("%s: %d are loaded, want %d", step.name, n, step.want)
		}
	}
}
