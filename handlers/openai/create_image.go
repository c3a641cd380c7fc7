package openai

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
)

// CreateImage generates images from a prompt.
func (a *API) CreateImage(ctx context.Context, in wire.CreateImageRequestObject) (wire.CreateImageResponseObject, error) {
	req, err := toImageRequest(in.Body)
	if err != nil {
		return nil, err
	}
	x := exchange.From(ctx)
	x.SetModel(req.Model)
	images, err := a.engine.GenerateImages(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := x.HoldImages(images); err != nil {
		return nil, err
	}
	out := wire.NewImageList(a.clock().Unix())
	for _, drawn := range images {
		out.Data = append(out.Data, wire.Image{B64Json: base64.StdEncoding.EncodeToString(drawn.Data)})
	}
	return answer{x, out}, nil
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
