package modelstore

import (
	"context"
	"strings"
)

// createIn does what a create does: a layer, a config, and a manifest.
func createIn(ctx context.Context, c *Change, n Name, content string) (*Model, error) {
	layer, err := c.Write(ctx, MediaTypeModel, strings.NewReader(content))
	if err != nil {
		return nil, err
	}
	config, err := c.Write(ctx, MediaTypeConfig, strings.NewReader(`{"model_format":"gguf"}`))
	if err != nil {
		return nil, err
	}
	text, err := Manifest{Config: config, Layers: []Layer{layer}}.Encode()
	if err != nil {
		return nil, err
	}
	return c.Put(ctx, n, text)
}
