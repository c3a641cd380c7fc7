package chat

import (
	"context"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template"
	"github.com/diglot/diglot/engine/picture"
)

// tokenize tokenizes the rendered prompt, images included.
func (e *Engine) tokenize(ctx context.Context, p *plan, rendering template.Rendering) (err error) {
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

// render renders a request with the chat template, if it is not a raw prompt.
func (e *Engine) render(ctx context.Context, req *engine.Request) (template.Rendering, error) {
	if req.Prompt != nil {
		return template.Rendering{Spans: rawSpans(req.Prompt, e.info, e.special)}, nil
	}
	return e.template.Render(ctx, req)
}

// openImages reads the headers of the images in the prompt. It opens each once,
// since that hashes the whole file.
func (p *plan) openImages() error {
	for _, i := range p.images {
		if len(i.Source.Data) == 0 {
			return i.Fail(engine.Errorf(engine.CodeInvalidArgument, "The image is empty."))
		}
		f := imageKey{&i.Source.Data[0], len(i.Source.Data), i.Source.MediaType}
		if i.Picture = p.opened[f]; i.Picture != nil {
			continue
		}
		opened, err := picture.Open(i.Source.Data, i.Source.MediaType)
		if err != nil {
			return i.Fail(err)
		}
		if p.opened == nil {
			p.opened = map[imageKey]*picture.Picture{}
		}
		i.Picture, p.opened[f] = opened, opened
	}
	return nil
}
