// Package fetch gets the images that requests name by URL, so that an engine
// sees their data alone.
//
// A URL in a request makes the server speak to whomever a client names. So it
// speaks to public addresses only: what a name resolves to is checked on the
// connection itself, after every redirect, and where nobody could change it any
// more. An operator can name hosts that are excepted.
package fetch

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/picture"
)

const (
	maxBytes = picture.MaxBytes // of one image
	maxTotal = 64 << 20         // of all images of a request, one as often as it is there
	maxTime  = 10 * time.Second // for one image
	maxAll   = 30 * time.Second // for all images of a request
)

// Engine is an engine whose requests have no URLs of images left.
type Engine struct {
	engine.Engine
	fetcher *fetcher
}

var _ engine.Finder = (*Engine)(nil)

// New makes an Engine in front of e. Images may come from the hosts, whatever
// their addresses are, and from hosts with public addresses.
func New(e engine.Engine, hosts []string) *Engine {
	return &Engine{e, newFetcher(hosts)}
}

// Generate implements [engine.Engine].
func (e *Engine) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		full, err := e.complete(ctx, req)
		if err != nil {
			yield(nil, engine.AsError(err))
			return
		}
		e.Engine.Generate(ctx, full)(yield)
	}
}

// FindModel implements [engine.Finder].
func (e *Engine) FindModel(ctx context.Context, name string) (engine.Model, error) {
	return engine.FindModel(ctx, e.Engine, name)
}

// Count implements [engine.Engine].
func (e *Engine) Count(ctx context.Context, req *engine.Request) (int, error) {
	full, err := e.complete(ctx, req)
	if err != nil {
		return 0, engine.AsError(err)
	}
	return e.Engine.Count(ctx, full)
}

// complete returns the request with the data of its images. The client's own
// is left as it is.
func (e *Engine) complete(ctx context.Context, req *engine.Request) (*engine.Request, error) {
	if !slices.ContainsFunc(req.Messages, func(m engine.Message) bool { return namesImage(m.Parts) }) {
		return req, nil
	}
	if err := e.check(ctx, req); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxAll, errSlow)
	defer cancel()
	b := basket{ctx: ctx, fetcher: e.fetcher, got: map[string]engine.Image{}, room: maxTotal}
	full := *req
	full.Messages = slices.Clone(req.Messages)
	for i := range full.Messages {
		m := &full.Messages[i]
		if !namesImage(m.Parts) {
			continue
		}
		parts, err := b.fill(m.Parts, i)
		if err != nil {
			return nil, err
		}
		m.Parts = parts
	}
	return &full, nil
}

// check refuses what would be refused after the images were there: a request
// that comes to nothing must not send this server anywhere.
func (e *Engine) check(ctx context.Context, req *engine.Request) error {
	model, err := engine.FindModel(ctx, e.Engine, req.Model)
	if err != nil {
		return err
	}
	if model.TextOnly {
		return engine.NoImages(model.Name, req.Messages)
	}
	return nil
}

// namesImage reports whether there is an image by URL among the parts, or in a
// result there.
func namesImage(parts []engine.Part) bool {
	return slices.ContainsFunc(parts, func(p engine.Part) bool {
		switch p := p.(type) {
		case engine.Image:
			return p.URL != ""
		case engine.ToolResult:
			return namesImage(p.Parts)
		}
		return false
	})
}

// basket holds the images of one request.
type basket struct {
	ctx     context.Context
	fetcher *fetcher
	got     map[string]engine.Image
	room    int // bytes left
}

// fill returns the parts of a message with the data of their images.
func (b *basket) fill(parts []engine.Part, message int) ([]engine.Part, error) {
	full := slices.Clone(parts)
	for i, p := range full {
		switch p := p.(type) {
		case engine.Image:
			image, err := b.image(p)
			if err != nil {
				return nil, p.Refuse(err, message)
			}
			image.Param = p.Param
			full[i] = image
		case engine.ToolResult:
			inside, err := b.fill(p.Parts, message)
			if err != nil {
				return nil, err
			}
			p.Parts = inside
			full[i] = p
		}
	}
	return full, nil
}

func (b *basket) image(i engine.Image) (engine.Image, error) {
	if i.URL == "" {
		return i, nil
	}
	got, ok := b.got[i.URL]
	if !ok {
		data, err := b.fetcher.get(b.ctx, i.URL, min(maxBytes, b.room))
		if err != nil {
			return engine.Image{}, err
		}
		// What a server says about its files is often wrong, and no fault of
		// the client: the data tells.
		got = engine.Image{Data: data}
		b.got[i.URL] = got
	}
	// On its way to the model's process, the data is there once for each place.
	if len(got.Data) > b.room {
		return engine.Image{}, engine.Errorf(engine.CodeInvalidArgument, "The images have more than %d bytes in all.", maxTotal)
	}
	b.room -= len(got.Data)
	return got, nil
}
