package chat

import (
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/picture"
)

// maxImages is how many images one request may have. What bounds the work for
// one of them is in package picture.
const maxImages = 100

// checkImages refuses images where the model takes none, and too many.
func (e *Engine) checkImages(req *engine.Request) error {
	n := 0
	for i, m := range req.Messages {
		found := countImages(m.Parts)
		if n += found; found == 0 {
			continue
		}
		place := engine.Place{Field: engine.FieldMessages, Index: i}
		if !e.info.Vision {
			return engine.Errorf(engine.CodeUnsupported, "The model %s does not take images.", e.info.Name).At(place)
		}
		if n > maxImages {
			return engine.Errorf(engine.CodeInvalidArgument, "There are more than %d images.", maxImages).At(place)
		}
	}
	return nil
}

// countImages counts the images among the parts and in results there.
func countImages(parts []engine.Part) int {
	n := 0
	for _, p := range parts {
		switch p := p.(type) {
		case engine.Image:
			n++
		case engine.ToolResult:
			n += countImages(p.Parts)
		}
	}
	return n
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
	return engine.AsError(err).At(engine.Place{Field: engine.FieldMessages, Index: i.Message})
}
