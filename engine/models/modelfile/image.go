package modelfile

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/models/store"
)

// part is a file of an image model in the store.
type part struct {
	diffusion.Part
	layer store.Layer
}

func (b *builder) draws() bool { return len(b.parts) > 0 }

// drawsAny reports whether the FROM lines make an image model: whether one of them
// is a diffusion model, or an image model of the store. The other lines are then its
// parts.
func drawsAny(s *store.Store, origins []origin) bool {
	return slices.ContainsFunc(origins, func(o origin) bool {
		switch {
		case o.path != "":
			p, err := diffusion.Inspect(o.path)
			return err == nil && p.Draws()
		case o.url != "":
			return false
		}
		m, err := s.Model(o.name)
		return err == nil && slices.ContainsFunc(m.Manifest.Layers, func(l store.Layer) bool { return l.MediaType == store.MediaTypeDiffusion })
	})
}

// fromPart applies a FROM line that names a file of an image model.
func (b *builder) fromPart(ctx context.Context, i Instruction, o origin) error {
	p, err := diffusion.Inspect(o.path)
	switch {
	case err != nil:
		return i.errorf("FROM %s: %v", i.Value, err)
	case p.Role == diffusion.LoRA:
		return i.errorf("FROM %s: the file is a LoRA; use ADAPTER for it, and FROM for its model", i.Value)
	}
	layer, err := b.storePart(ctx, p)
	if err != nil {
		return describe(i, err)
	}
	b.addPart(part{p, layer})
	return nil
}

// adaptImage applies an ADAPTER line of an image model.
func (b *builder) adaptImage(ctx context.Context, i Instruction, path string) error {
	p, err := diffusion.Inspect(path)
	switch {
	case err != nil:
		return i.errorf("ADAPTER %s: %v", i.Value, err)
	case p.Role != diffusion.LoRA:
		return i.errorf("ADAPTER %s: the file is not a LoRA but a %s", i.Value, p.Role)
	}
	layer, err := b.storePart(ctx, p)
	if err != nil {
		return describe(i, err)
	}
	b.addPart(part{p, layer})
	return nil
}

// storePart copies a file into the store, unless it is a blob of the store.
func (b *builder) storePart(ctx context.Context, p diffusion.Part) (store.Layer, error) {
	mediaType := store.MediaTypeDiffusionPart
	switch {
	case p.Draws():
		mediaType = store.MediaTypeDiffusion
	case p.Role == diffusion.LoRA:
		mediaType = store.MediaTypeDiffusionLoRA
	}
	if hex, ok := strings.CutPrefix(filepath.Base(p.Path), "sha256-"); ok {
		layer := store.Layer{MediaType: mediaType, Digest: digestOf(hex), Size: p.Size}
		if b.src.Store.BlobPath(layer.Digest) == p.Path {
			return layer, nil
		}
	}
	progress := Progress{Status: "copying " + filepath.Base(p.Path), Total: p.Size}
	return b.change.Import(ctx, mediaType, p.Path, func(done int64) {
		progress.Done = done
		b.src.progress(progress)
	})
}

// addPart keeps the diffusion model first. A part of the Modelfile replaces one of
// the base model.
func (b *builder) addPart(p part) {
	if p.Draws() {
		b.parts = append([]part{p}, b.parts...)
		return
	}
	b.parts = append(b.parts, p)
}

// inheritPart takes over a file of an image model.
func (b *builder) inheritPart(l store.Layer) error {
	p, err := diffusion.Inspect(b.src.Store.BlobPath(l.Digest))
	if err != nil {
		return fmt.Errorf("blob %s: %w", l.Digest, err)
	}
	b.addPart(part{p, l})
	return nil
}

// wholeImage fails if the parts do not make an image model.
func (b *builder) wholeImage(last Instruction) error {
	switch {
	case len(b.models)+len(b.projectors)+len(b.adapters) > 0:
		return last.errorf("FROM names both a language model and an image model")
	case b.recipe.template != "" || b.recipe.system != "" || len(b.recipe.messages) > 0:
		return last.errorf("an image model has no conversation; only FROM, ADAPTER, PARAMETER and LICENSE can be used with it")
	case b.remoteOnly() != nil:
		return b.remoteOnly()
	}
	if err := b.drafted(); err != nil {
		return err
	}
	var m diffusion.Model
	for _, p := range b.parts {
		m.Parts = append(m.Parts, p.Part)
	}
	if err := m.Check(); err != nil {
		return last.errorf("FROM %s: %v", last.Value, err)
	}
	return nil
}

// drawing is a parameter that only image models have; empty: none is set.
func (r *recipe) drawing() string {
	for _, p := range table {
		if _, ok := r.params[p.name]; ok && p.draws {
			return p.name
		}
	}
	return ""
}
