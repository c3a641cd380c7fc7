// Package fetch downloads the images that requests name by URL, so that engines only see
// data.
//
// A URL in a request makes the server connect to a host of the client's choice (SSRF). So
// only public addresses are allowed, and the address of the actual connection is checked,
// after resolution and every redirect. An operator can allow further hosts.
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
	maxTotal = 64 << 20         // of all images of a request, repeated ones counted each time
	maxTime  = 10 * time.Second // for one image
	maxAll   = 30 * time.Second // for all images of a request
)

// Engine is an engine whose requests no longer hold image URLs.
type Engine struct {
	engine.Engine
	fetcher *fetcher
}

var _ engine.Finder = (*Engine)(nil)

// New wraps e. Images may come from public addresses, and from the given hosts whatever
// their addresses.
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

// GenerateImages implements [engine.Engine]. Images that come as URLs, as some servers
// send them, are fetched by the same rules.
func (e *Engine) GenerateImages(ctx context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		b := loader{fetcher: e.fetcher, got: map[string]engine.Image{}, room: maxTotal}
		for event, err := range e.Engine.GenerateImages(ctx, req) {
			if d, ok := event.(engine.Drawn); ok && err == nil && d.Image.URL != "" {
				if b.ctx == nil {
					var cancel context.CancelFunc
					b.ctx, cancel = context.WithTimeoutCause(ctx, maxAll, errSlow)
					defer cancel() // once
				}
				event, err = b.drawn(d)
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// drawn fetches a generated image. The URL is not the client's, so neither is the fault,
// and the error tells the client nothing of the server's network.
func (b *loader) drawn(d engine.Drawn) (engine.Event, error) {
	image, err := b.image(d.Image)
	if err == nil {
		var p *picture.Picture
		if p, err = picture.Open(image.Data, ""); err == nil {
			size := p.Size()
			d.Image, d.Width, d.Height = engine.Image{Data: image.Data, MediaType: p.MediaType()}, size.X, size.Y
			return d, nil
		}
	}
	if coded := engine.AsError(err); coded.Code != engine.CodeInvalidArgument {
		return nil, coded
	}
	return nil, engine.Errorf(engine.CodeEngineCrashed, "The model's server sent the URL of an image that cannot be used.").Because(err)
}

// complete returns a copy of the request with the images' data.
func (e *Engine) complete(ctx context.Context, req *engine.Request) (*engine.Request, error) {
	if !slices.ContainsFunc(req.Messages, func(m engine.Message) bool { return namesImage(m.Parts) }) {
		return req, nil
	}
	if err := e.check(ctx, req); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxAll, errSlow)
	defer cancel()
	b := loader{ctx: ctx, fetcher: e.fetcher, got: map[string]engine.Image{}, room: maxTotal}
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

// check rejects what would be rejected after the download: a request that fails must not
// make this server connect anywhere.
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

// namesImage reports whether the parts, or results among them, hold an image URL.
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

// loader holds the images of one request.
type loader struct {
	ctx     context.Context
	fetcher *fetcher
	got     map[string]engine.Image
	room    int // bytes left
}

// fill returns the parts of a message with their images' data.
func (b *loader) fill(parts []engine.Part, message int) ([]engine.Part, error) {
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

func (b *loader) image(i engine.Image) (engine.Image, error) {
	if i.URL == "" {
		return i, nil
	}
	got, ok := b.got[i.URL]
	if !ok {
		data, err := b.fetcher.get(b.ctx, i.URL, min(maxBytes, b.room))
		if err != nil {
			return engine.Image{}, err
		}
		// Declared types are often wrong, and not by the client's fault: the data decides.
		got = engine.Image{Data: data}
		b.got[i.URL] = got
	}
	// On the way to the model's process, the data is repeated at each place.
	if len(got.Data) > b.room {
		return engine.Image{}, engine.Errorf(engine.CodeInvalidArgument, "The images have more than %d bytes in total.", maxTotal)
	}
	b.room -= len(got.Data)
	return got, nil
}
