package gosdk

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// The cases for the real image engine, over a miniature model; see tools/miniature. Its
// images are noise, but always the same noise.
var openaiDrawing = []openaiCase{
	{"drawing/repeats", func(ctx context.Context, client openai.Client, model string, c *check) {
		params := drawingOf(model)
		first := drawn(ctx, client, c, params, 7)
		c.holds(bytes.Equal(drawn(ctx, client, c, params, 7), first), "the second image is another one")
		c.holds(!bytes.Equal(drawn(ctx, client, c, params, 8), first), "another seed has the same image")
		params.Prompt = "a blue house"
		c.holds(!bytes.Equal(drawn(ctx, client, c, params, 7), first), "another prompt has the same image")
		c.fine(os.WriteFile(filepath.Join(os.Getenv("SDK_IMAGES"), "go.png"), first, 0o644))
	}},
	{"drawing/three", func(ctx context.Context, client openai.Client, model string, c *check) {
		params := drawingOf(model)
		params.N = openai.Int(3)
		reply, err := client.Images.Generate(ctx, params, option.WithJSONSet("seed", 7))
		if c.fine(err) {
			equal(c, "images", len(reply.Data), 3)
			different := map[string]bool{}
			for _, d := range reply.Data {
				different[d.B64JSON] = true
			}
			equal(c, "different images", len(different), 3)
		}
	}},
	{"drawing/sizes", func(ctx context.Context, client openai.Client, model string, c *check) {
		for _, size := range []string{"64x64", "96x128", "64x2048"} {
			params := drawingOf(model)
			params.Size = openai.ImageGenerateParamsSize(size)
			config, err := png.DecodeConfig(bytes.NewReader(drawn(ctx, client, c, params, 7)))
			if c.fine(err) {
				equal(c, "size", fmt.Sprintf("%dx%d", config.Width, config.Height), size)
			}
		}
	}},
	{"drawing/stream", func(ctx context.Context, client openai.Client, model string, c *check) {
		params := drawingOf(model)
		params.PartialImages = openai.Int(1)
		events := client.Images.GenerateStreaming(ctx, params, option.WithJSONSet("seed", 7))
		var kinds []string
		var last []byte
		for events.Next() {
			kinds = append(kinds, events.Current().Type)
			last, _ = base64.StdEncoding.DecodeString(events.Current().B64JSON)
		}
		c.fine(events.Err())
		c.holds(slices.Equal(kinds, []string{"image_generation.partial_image", "image_generation.completed"}), "events %q", kinds)
		c.holds(bytes.Equal(last, drawn(ctx, client, c, drawingOf(model), 7)), "the streamed image is another one")
	}},
	{"drawing/refused", func(ctx context.Context, client openai.Client, model string, c *check) {
		for param, change := range map[string]func(*openai.ImageGenerateParams){
			"size":          func(p *openai.ImageGenerateParams) { p.Size = "65x64" },
			"n":             func(p *openai.ImageGenerateParams) { p.N = openai.Int(11) },
			"output_format": func(p *openai.ImageGenerateParams) { p.OutputFormat = "webp" },
			"background":    func(p *openai.ImageGenerateParams) { p.Background = "transparent" },
		} {
			params := drawingOf(model)
			change(&params)
			_, err := client.Images.Generate(ctx, params)
			equal(c, "param", openaiError(c, err, 400).Param, param)
		}
	}},
}

func drawingOf(model string) openai.ImageGenerateParams {
	return openai.ImageGenerateParams{Model: openai.ImageModel(model), Prompt: "a red house", Size: "64x64", Quality: "low"}
}

// drawn returns the file of one image.
func drawn(ctx context.Context, client openai.Client, c *check, params openai.ImageGenerateParams, seed int) []byte {
	reply, err := client.Images.Generate(ctx, params, option.WithJSONSet("seed", seed))
	if !c.fine(err) || len(reply.Data) == 0 {
		return nil
	}
	file, err := base64.StdEncoding.DecodeString(reply.Data[0].B64JSON)
	c.fine(err)
	return file
}
