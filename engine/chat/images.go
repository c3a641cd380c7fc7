package chat

import (
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/picture"
)

// checkImages refuses images where the model takes none, and too many. What
// bounds the work for one of them is in package picture.
func (e *Engine) checkImages(req *engine.Request) error {
	if e.info.Vision {
		return engine.CheckImages(req.Messages)
	}
	return engine.NoImages(e.info.Name, req.Messages)
}

func hasImage(parts []engine.Part) bool {
	return slices.ContainsFunc(parts, func(p engine.Part) bool {
		_, ok := p.(engine.Image)
		return ok
	})
}

// openImages looks at the files of the images.
func openImages(images []*Image) error {
	for _, i := range images {
		p, err := picture.Open(i.source.Data, i.source.MediaType)
		if err != nil {
			return i.Fail(err)
		}
		i.Picture = p
	}
	return nil
}

// Fail is the error of an image, with its place in the request.
func (i *Image) Fail(err error) *engine.Error {
	return i.source.Refuse(err, i.Message)
}
