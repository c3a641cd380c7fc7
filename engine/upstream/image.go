package upstream

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
)

const maxImageReply = 256 << 20 // bytes

// GenerateImages implements [engine.Engine]. Image URLs in a reply are an error:
// nobody has allowed this server to fetch them.
func (e *Engine) GenerateImages(ctx context.Context, req *engine.ImageRequest) ([]engine.Image, error) {
	out, err := e.generateImages(ctx, req)
	if err != nil {
		return nil, engine.AsError(err)
	}
	return out, nil
}

func (e *Engine) generateImages(ctx context.Context, req *engine.ImageRequest) ([]engine.Image, error) {
	if err := e.check(req.Model); err != nil {
		return nil, err
	}
	r, err := e.do(ctx, e.imageGeneration(req))
	if err != nil {
		return nil, err
	}
	defer r.close()
	var list wire.ImageList
	if err := r.decode(&list); err != nil {
		return nil, err
	}
	if len(list.Data) != req.Choices {
		return nil, r.malformed(fmt.Sprintf("it has %d images, not %d", len(list.Data), req.Choices))
	}
	out := make([]engine.Image, len(list.Data))
	for i, picture := range list.Data {
		data, err := base64.StdEncoding.DecodeString(picture.B64Json)
		if err != nil || len(data) == 0 {
			return nil, r.malformed("it has an image without data")
		}
		out[i] = engine.Image{Data: data, MediaType: http.DetectContentType(data)}
	}
	return out, nil
}

func (e *Engine) imageGeneration(req *engine.ImageRequest) operation {
	return operation{
		name: images,
		send: func(ctx context.Context, in io.Reader, dress wire.RequestEditorFn) (*http.Response, error) {
			return e.client.CreateImageWithBody(ctx, jsonType, in, e.rewriteURL, dress)
		},
		build: func(l *fallback) (*body, error) { return e.fromImageRequest(req, newOptionalFields(l)) },
		limit: maxImageReply,
	}
}

func (e *Engine) fromImageRequest(req *engine.ImageRequest, m *optionalFields) (*body, error) {
	out := wire.CreateImageRequest{Model: e.config.Model, Prompt: req.Prompt}
	out.N.Set(req.Choices)
	if req.Width > 0 {
		out.Size.Set(fmt.Sprintf("%dx%d", req.Width, req.Height))
	}
	if req.Quality != "" {
		out.Quality.Set(wire.ImageQuality(req.Quality))
	}
	if req.Style != "" {
		out.Style.Set(wire.ImageStyle(req.Style))
	}
	if req.Drawing.Seeded {
		m.offer("seed", req.Drawing.Seed)
	}
	m.offer("response_format", wire.ImageResponseFormatB64Json) // OpenAI's newer models have no other, and refuse the field
	return m.body(out)
}
