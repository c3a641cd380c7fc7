package upstream

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/picture"
	wire "github.com/diglot/diglot/gen/openai"
)

const maxImageReply = 256 << 20 // bytes

// imageReply is what servers answer. All but the images is optional, and servers that
// have no base64 send URLs.
type imageReply struct {
	Data []struct {
		Base64 string `json:"b64_json"`
		URL    string `json:"url"`
	} `json:"data"`
	Background string `json:"background"`
	Quality    string `json:"quality"`
	Usage      struct {
		Input   int `json:"input_tokens"`
		Output  int `json:"output_tokens"`
		Details struct {
			Text  int `json:"text_tokens"`
			Image int `json:"image_tokens"`
		} `json:"input_tokens_details"`
	} `json:"usage"`
}

// GenerateImages implements [engine.Engine]. An image that the server sends as a URL
// has only that: whoever knows which hosts are allowed fetches it.
func (e *Engine) GenerateImages(ctx context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		events, err := e.generateImages(ctx, req)
		if err != nil {
			yield(nil, engine.AsError(err))
			return
		}
		for _, event := range events {
			if !yield(event, nil) {
				return
			}
		}
	}
}

func (e *Engine) generateImages(ctx context.Context, req *engine.ImageRequest) ([]engine.Event, error) {
	if err := e.check(req.Model); err != nil {
		return nil, err
	}
	r, err := e.do(ctx, e.imageGeneration(req))
	if err != nil {
		return nil, err
	}
	defer r.close()
	var reply imageReply
	if err := r.decode(&reply); err != nil {
		return nil, err
	}
	if want := max(req.Choices, 1); len(reply.Data) != want {
		return nil, r.malformed(fmt.Sprintf("it has %d images, not %d", len(reply.Data), want))
	}
	events := []engine.Event{engine.Start{Ignored: r.sent.ignored}}
	for i := range reply.Data {
		drawn, err := r.drawn(&reply, i)
		if err != nil {
			return nil, err
		}
		events = append(events, drawn)
	}
	return events, nil
}

// drawn returns an image of a reply.
func (r *reply) drawn(from *imageReply, i int) (engine.Drawn, error) {
	d := engine.Drawn{Choice: i, Background: known(from.Background, "transparent", "opaque"), Quality: known(from.Quality, "low", "medium", "high", "xhigh", "max")}
	if u := from.Usage; i == len(from.Data)-1 && u.Input >= 0 && u.Output >= 0 && u.Details.Text >= 0 && u.Details.Image >= 0 {
		d.Usage = engine.ImageUsage{InputTokens: u.Input, OutputTokens: u.Output, TextTokens: u.Details.Text, ImageTokens: u.Details.Image}
	}
	data, err := base64.StdEncoding.DecodeString(from.Data[i].Base64)
	switch {
	case err != nil:
		return d, r.malformed("it has an image that is not base64")
	case len(data) > 0:
		p, err := picture.Open(data, "")
		if err != nil {
			return d, r.malformed(err.Error())
		}
		size := p.Size()
		d.Image, d.Width, d.Height = engine.Image{Data: data, MediaType: p.MediaType()}, size.X, size.Y
		return d, nil
	case from.Data[i].URL != "":
		d.Image.URL = from.Data[i].URL
		return d, nil
	}
	return d, r.malformed("it has an image without data")
}

// known returns a value that replies of ours may have, or nothing.
func known(value string, values ...string) string {
	if slices.Contains(values, value) {
		return value
	}
	return ""
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
	out.N.Set(max(req.Choices, 1))
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
		m.want("seed", req.Drawing.Seed)
	}
	if req.File.Format != "" {
		m.want("output_format", req.File.Format)
	}
	if req.File.Quality > 0 {
		m.want("output_compression", req.File.Quality)
	}
	m.offer("response_format", wire.ImageResponseFormatB64Json) // OpenAI's newer models have no other, and refuse the field
	return m.body(out)
}

// want offers a field that the client set, which is ignored if the server has none.
func (m *optionalFields) want(name string, value any) {
	if !m.offer(name, value) {
		m.ignored = append(m.ignored, name)
	}
}
