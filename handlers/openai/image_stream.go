package openai

import (
	"cmp"
	"encoding/base64"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// imageEncoder turns the events of image generation into events of their own names, for
// each image some that show it unfinished, and one with the finished one.
type imageEncoder struct {
	plainFrames
	created int64
}

// Encode implements [sse.Encoder].
func (e imageEncoder) Encode(event engine.Event) []sse.Frame {
	switch v := event.(type) {
	case engine.Preview:
		partial := wire.NewImagePartialEvent(base64.StdEncoding.EncodeToString(v.Image.Data), e.created, fromSize(v.Drawn),
			wire.ImagePartialEventQuality(cmp.Or(v.Quality, "auto")), wire.ImagePartialEventBackground(cmp.Or(v.Background, "auto")),
			wire.ImagePartialEventOutputFormat(fromMediaType(v.Image.MediaType)), v.Index)
		return []sse.Frame{sse.NewFrame(string(partial.Type), partial)}
	case engine.Drawn:
		completed := wire.NewImageCompletedEvent(base64.StdEncoding.EncodeToString(v.Image.Data), e.created, fromSize(v),
			wire.ImageCompletedEventQuality(cmp.Or(v.Quality, "auto")), wire.ImageCompletedEventBackground(cmp.Or(v.Background, "auto")),
			wire.ImageCompletedEventOutputFormat(fromMediaType(v.Image.MediaType)))
		if v.Usage != (engine.ImageUsage{}) {
			completed.Usage = new(fromImageUsage(v.Usage))
		}
		return []sse.Frame{sse.NewFrame(string(completed.Type), completed)}
	}
	return nil
}
