package chat

import (
	"context"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template"
	"github.com/diglot/diglot/engine/picture"
)

// read makes tokens of the rendered prompt.
func (e *Engine) read(ctx context.Context, p *plan, rendering template.Rendering) (err error) {
	prompt := prompt.Prompt{Spans: rendering.Spans, Request: p.request}
	p.images = prompt.Images()
	if err := p.openImages(); err != nil {
		return err
	}
	if p.prompt, err = e.model.Tokenize(ctx, prompt); err != nil {
		return placeLength(err, p.request)
	}
	p.start.PromptTokens, p.start.Prompt = len(p.prompt), prompt.String()
	return nil
}

// render makes the prompt of a request.
func (e *Engine) render(ctx context.Context, req *engine.Request) (template.Rendering, error) {
	if req.Prompt != nil {
		return template.Rendering{Spans: rawSpans(req.Prompt, e.info, e.special)}, nil
	}
	return e.template.Render(ctx, req)
}

// openImages looks at the files of the images in the prompt, and at each once:
// to know it, all of it is hashed.
func (p *plan) openImages() error {
	for _, i := range p.images {
		if len(i.Source.Data) == 0 {
			return i.Fail(engine.Errorf(engine.CodeInvalidArgument, "The image is empty."))
		}
		f := file{&i.Source.Data[0], len(i.Source.Data), i.Source.MediaType}
		if i.Picture = p.opened[f]; i.Picture != nil {
			continue
		}
		opened, err := picture.Open(i.Source.Data, i.Source.MediaType)
		if err != nil {
			return i.Fail(err)
		}
		if p.opened == nil {
			p.opened = map[file]*picture.Picture{}
		}
		i.Picture, p.opened[f] = opened, opened
	}
	return nil
}
