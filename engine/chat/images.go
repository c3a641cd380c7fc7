package chat

import (
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/picture"
)

// checkImages refuses images where the model takes none. What bounds the work
// for one of them is in package picture.
func (e *Engine) checkImages(req *engine.Request) error {
	if e.info.Vision {
		return nil
	}
	return engine.NoImages(e.info.Name, req.Messages)
}

// file is what a client sent as an image, by where it lies.
type file struct {
	data      *byte
	size      int
	mediaType string
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
