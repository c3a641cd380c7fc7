package openai

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// CreateImage generates images from a prompt.
func (a *API) CreateImage(ctx context.Context, in wire.CreateImageRequestObject) (wire.CreateImageResponseObject, error) {
	req, err := toImageRequest(in.Body)
	if err != nil {
		return nil, err
	}
	x := exchange.From(ctx)
	events := x.WatchImages(req, a.engine.GenerateImages(ctx, req))
	created := a.clock().Unix()
	if !in.Body.StreamOrDefault() {
		images, err := engine.CollectImages(x.Hold(events))
		if err != nil {
			return nil, err
		}
		return answer{x, fromImages(created, images)}, nil
	}
	stream, err := sse.Open(ctx, x.HoldEach(events))
	if err != nil {
		return nil, err
	}
	return streamed{stream, imageEncoder{plainFrames{x}, created}}, nil
}

// fromImages tells of all images what is true of the last, which knows the most; but no
// size where they differ.
func fromImages(created int64, images []engine.Drawn) wire.ImageList {
	out := wire.NewImageList(created)
	var last engine.Drawn
	sizes := map[string]bool{}
	for _, last = range images {
		out.Data = append(out.Data, wire.Image{B64Json: base64.StdEncoding.EncodeToString(last.Image.Data)})
		sizes[fromSize(last)] = true
	}
	if len(sizes) == 1 {
		out.Size = new(fromSize(last))
	}
	out.OutputFormat = new(wire.ImageListOutputFormat(fromMediaType(last.Image.MediaType)))
	if last.Quality != "" {
		out.Quality = new(wire.ImageListQuality(last.Quality))
	}
	if last.Background != "" {
		out.Background = new(wire.ImageListBackground(last.Background))
	}
	if last.Usage != (engine.ImageUsage{}) {
		out.Usage = new(fromImageUsage(last.Usage))
	}
	return out
}

func fromSize(d engine.Drawn) string { return fmt.Sprintf("%dx%d", d.Width, d.Height) }

func fromMediaType(mediaType string) string { return strings.TrimPrefix(mediaType, "image/") }

func fromImageUsage(u engine.ImageUsage) wire.ImageUsage {
	return wire.ImageUsage{
		TotalTokens: u.InputTokens + u.OutputTokens, InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		InputTokensDetails: wire.ImageInputTokensDetails{TextTokens: u.TextTokens, ImageTokens: u.ImageTokens},
	}
}

func toImageRequest(in *wire.CreateImageRequest) (*engine.ImageRequest, error) {
	width, height, err := toSize(in.SizeOrDefault())
	if err != nil {
		return nil, err
	}
	quality := in.QualityOrDefault()
	if quality == wire.ImageQualityAuto {
		quality = ""
	}
	req := &engine.ImageRequest{
		Model:   in.Model,
		Prompt:  in.Prompt,
		Choices: in.NOrDefault(),
		Width:   width,
		Height:  height,
		Quality: string(quality),
		Style:   string(optional.Or(in.Style, "")),
		File:    engine.ImageFile{Format: string(optional.Or(in.OutputFormat, ""))},
	}
	if quality, err := in.OutputCompression.Get(); err == nil {
		req.File.Quality = max(quality, 1) // the least that there is
	}
	if n, err := in.PartialImages.Get(); err == nil {
		req.Previews = n
	}
	if seed, err := in.Seed.Get(); err == nil {
		req.Drawing.Seed, req.Drawing.Seeded = uint64(seed), true
	}
	return req, nil
}

// toSize parses a size, whose form the document has checked; auto is 0 by 0.
func toSize(size string) (width, height int, err error) {
	if size == "auto" {
		return 0, 0, nil
	}
	before, after, _ := strings.Cut(size, "x")
	if width, err = strconv.Atoi(before); err != nil {
		return 0, 0, err
	}
	height, err = strconv.Atoi(after)
	return width, height, err
}
