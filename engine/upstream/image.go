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

// GenerateImages implements [engine.Engine]. A server that gives addresses of
// pictures instead of pictures is refused: nobody has said that this server
// may fetch from there.
func (e *Engine) GenerateImages(ctx context.Context, req *engine.ImageRequest) ([]engine.Image, error) {
	out, err := e.draw(ctx, req)
	if err != nil {
		return nil, engine.AsError(err)
	}
	return out, nil
}

func (e *Engine) draw(ctx context.Context, req *engine.ImageRequest) ([]engine.Image, error) {
	if err := e.check(req.Model); err != nil {
		return nil, err
	}
	r, err := e.ask(ctx, e.drawing(req))
	if err != nil {
		return nil, err
	}
	defer r.close()
	var list wire.ImageList
	if err := r.decode(&list); err != nil {
		return nil, err
	}
	if len(list.Data) != req.Choices {
		return nil, r.malformed(fmt.Sprintf("it has %d pictures of %d", len(list.Data), req.Choices))
	}
	out := make([]engine.Image, len(list.Data))
	for i, picture := range list.Data {
		data, err := base64.StdEncoding.DecodeString(picture.B64Json)
		if err != nil || len(data) == 0 {
			return nil, r.malformed("it has a picture without data")
		}
		out[i] = engine.Image{Data: data, MediaType: http.DetectContentType(data)}
	}
	return out, nil
}

func (e *Engine) drawing(req *engine.ImageRequest) operation {
	return operation{
		name: images,
		send: func(ctx context.Context, in io.Reader, dress wire.RequestEditorFn) (*http.Response, error) {
			return e.client.CreateImageWithBody(ctx, jsonType, in, e.readdress, dress)
		},
		build: func(l *lesson) (*body, error) { return e.fromImageRequest(req, newMembers(l)) },
		limit: maxImageReply,
	}
}

func (e *Engine) fromImageRequest(req *engine.ImageRequest, m *members) (*body, error) {
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
	m.offer("response_format", wire.ImageResponseFormatB64Json) // OpenAI's newer models know no other form, and refuse the member
	return m.body(out)
}
