package modelfile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/models/store"
)

// inherited is what a model inherits from its base model, besides GGUF files.
type inherited struct {
	template, system, messages []store.Layer // one or none
	licenses                   []store.Layer
	params                     params
	config                     store.Config
}

// mediaTypeTensor is a layer of a model in another format: one layer per tensor.
const mediaTypeTensor = "application/vnd.ollama.image.tensor"

// inherit takes over the layers of a base model.
func (b *builder) inherit(i Instruction, name store.Name) error {
	m, err := b.src.Store.Model(name)
	if err != nil {
		return describe(i, err)
	}
	if err := b.src.Store.Whole(m); err != nil {
		return describe(i, err)
	}
	if b.inherited.config, err = b.src.Store.Config(m); err != nil {
		return describe(i, err)
	}
	for _, l := range m.Manifest.Layers {
		if err := b.inheritLayer(l); err != nil {
			return describe(i, err)
		}
	}
	if c := b.inherited.config; c.RemoteHost != "" {
		address, err := remoteURL(c.RemoteHost)
		if err != nil {
			return describe(i, err)
		}
		b.remote = Remote{URL: address, Model: cmp.Or(b.recipe.remoteModel, c.RemoteModel)}
	}
	return nil
}

func (b *builder) inheritLayer(l store.Layer) error {
	// "from" is dropped, so that the manifest depends only on content.
	only := []store.Layer{{MediaType: l.MediaType, Digest: l.Digest, Size: l.Size}}
	h := &b.inherited
	switch l.MediaType {
	case store.MediaTypeModel:
		if err := b.inheritFile(only[0], &b.models); err != nil {
			return err
		}
		return runnable(b.models[len(b.models)-1].head)
	case store.MediaTypeProjector:
		if err := b.inheritFile(only[0], &b.projectors); err != nil {
			return err
		}
		return usable(b.projectors[len(b.projectors)-1].head)
	case store.MediaTypeAdapter:
		return b.inheritFile(only[0], &b.adapters)
	case store.MediaTypeDiffusion, store.MediaTypeDiffusionPart, store.MediaTypeDiffusionLoRA:
		return b.inheritPart(only[0])
	case store.MediaTypeTemplate, mediaTypePrompt:
		only[0].MediaType = store.MediaTypeTemplate
		h.template = only
	case store.MediaTypeSystem:
		h.system = only
	case store.MediaTypeMessages:
		h.messages = only
	case store.MediaTypeLicense:
		h.licenses = append(h.licenses, only...)
	case store.MediaTypeParams:
		raw, err := b.src.Store.ReadBlob(l, maxText)
		if err != nil {
			return err
		}
		h.params, err = readParams(raw)
		return err
	case mediaTypeTensor:
		return fmt.Errorf("the model is not in GGUF format and cannot be served")
	}
	return nil
}

func (b *builder) inheritFile(l store.Layer, list *[]weight) error {
	head, err := gguf.Open(b.src.Store.BlobPath(l.Digest))
	if err != nil {
		return fmt.Errorf("blob %s: %w", l.Digest, err)
	}
	*list = append(*list, weight{l, head})
	return nil
}

// layers returns the layers of the new model in a fixed order, GGUF files first.
// The Modelfile replaces inherited layers, but adds licenses, and replaces
// parameters one by one.
func (b *builder) layers(ctx context.Context) ([]store.Layer, error) {
	layers := []store.Layer{}
	for _, w := range slices.Concat(b.models, b.projectors, b.adapters) {
		layers = append(layers, w.layer)
	}
	for _, p := range b.parts {
		layers = append(layers, p.layer)
	}
	own, err := b.own(ctx)
	if err != nil {
		return nil, err
	}
	h := b.inherited
	for _, pair := range [][2][]store.Layer{{h.template, own.template}, {h.system, own.system}} {
		layers = append(layers, latter(pair)...)
	}
	layers = append(layers, h.licenses...)
	layers = append(layers, own.licenses...)
	values := params{}
	for _, from := range []params{h.params, b.recipe.params} {
		for name, v := range from {
			values[name] = v
		}
	}
	if len(values) > 0 {
		l, err := b.write(ctx, store.MediaTypeParams, values)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return unique(append(layers, latter([2][]store.Layer{h.messages, own.messages})...)), nil
}

// latter is the second of two if it is set, and otherwise the first.
func latter(pair [2][]store.Layer) []store.Layer {
	if pair[1] != nil {
		return pair[1]
	}
	return pair[0]
}

// unique removes duplicates, such as a repeated license.
func unique(layers []store.Layer) []store.Layer {
	var kept []store.Layer
	for _, l := range layers {
		same := func(o store.Layer) bool { return o.Digest == l.Digest && o.MediaType == l.MediaType }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, l)
		}
	}
	return kept
}

// own writes the layers of the Modelfile itself.
func (b *builder) own(ctx context.Context) (inherited, error) {
	var h inherited
	r := b.recipe
	for _, t := range []struct {
		mediaType string
		texts     []string
		layers    *[]store.Layer
	}{
		{store.MediaTypeTemplate, []string{r.template}, &h.template},
		{store.MediaTypeSystem, []string{r.system}, &h.system},
		{store.MediaTypeLicense, r.licenses, &h.licenses},
	} {
		for _, text := range t.texts {
			if text == "" {
				continue
			}
			l, err := b.change.Write(ctx, t.mediaType, strings.NewReader(text))
			if err != nil {
				return h, err
			}
			*t.layers = append(*t.layers, l)
		}
	}
	if len(r.messages) > 0 {
		l, err := b.write(ctx, store.MediaTypeMessages, r.messages)
		h.messages = []store.Layer{l}
		return h, err
	}
	return h, nil
}

// requires is the minimum version of the Modelfile or its base model.
func (b *builder) requires() string {
	return cmp.Or(b.recipe.requires, b.inherited.config.Requires)
}

// config describes the model as Ollama does. It does not depend on time or place,
// so that the digest is reproducible.
func (b *builder) config(layers []store.Layer) store.Config {
	base := b.inherited.config
	c := store.Config{
		Renderer: cmp.Or(b.recipe.renderer, base.Renderer), Parser: cmp.Or(b.recipe.parser, base.Parser), Requires: b.requires(),
		Architecture: "amd64", OS: "linux",
		RootFS: store.RootFS{Type: "layers", DiffIDs: []string{}},
	}
	for _, l := range layers {
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, l.Digest.String())
	}
	if b.isRemote() {
		c.RemoteHost, c.RemoteModel = b.remote.URL, b.remote.Model
		c.Capabilities, c.ContextLen, c.EmbedLen, c.BaseName = base.Capabilities, base.ContextLen, base.EmbedLen, base.BaseName
		return c
	}
	if b.draws() {
		first := b.parts[0].Part
		c.ModelFormat, c.ModelFamily, c.ModelFamilies = first.Format, first.Family.Name, []string{first.Family.Name}
		return c
	}
	model := b.models[0].head
	c.ModelFormat = "gguf"
	c.ModelFamily = model.Architecture()
	c.ModelType = humanCount(model.Parameters())
	c.FileType = model.Quantization()
	for _, head := range b.heads() {
		if a := head.Architecture(); !slices.Contains(c.ModelFamilies, a) {
			c.ModelFamilies = append(c.ModelFamilies, a)
		}
	}
	return c
}

// humanCount formats a number of parameters as Ollama does: 134.52M, 1.8B, 7B.
func humanCount(n int64) string {
	for _, unit := range []struct {
		size   int64
		digits int
		letter string
	}{{1e9, 1, "B"}, {1e6, 2, "M"}, {1e3, 0, "K"}} {
		if n < unit.size {
			continue
		}
		if n%unit.size == 0 {
			unit.digits = 0
		}
		return strconv.FormatFloat(float64(n)/float64(unit.size), 'f', unit.digits, 64) + unit.letter
	}
	return strconv.FormatInt(n, 10)
}

func digestOf(hex string) digest.Digest { return digest.NewDigestFromEncoded(digest.SHA256, hex) }
