package modelfile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection"
	"github.com/diglot/diglot/engine/models/store"
)

// builder collects the layers of one model.
type builder struct {
	src    Source
	change *store.Change
	recipe *recipe

	models, projectors, adapters []weight
	parts                        []part // of an image model, the diffusion model first
	inherited                    inherited
	remote                       Remote
}

// weight is a GGUF file in the store.
type weight struct {
	layer store.Layer
	head  *gguf.File
}

func (b *builder) build(ctx context.Context, name store.Name, origins []origin) (*store.Model, error) {
	image := drawsAny(b.src.Store, origins)
	for n, o := range origins {
		from := b.from
		if image && o.path != "" {
			from = b.fromPart
		}
		if err := from(ctx, b.recipe.from[n], o); err != nil {
			return nil, err
		}
	}
	if err := b.adapt(ctx); err != nil {
		return nil, err
	}
	if err := b.whole(); err != nil {
		return nil, err
	}
	layers, err := b.layers(ctx)
	if err != nil {
		return nil, err
	}
	b.warn()
	b.src.progress(Progress{Status: "writing manifest"})
	config, err := b.write(ctx, store.MediaTypeConfig, b.config(layers))
	if err != nil {
		return nil, err
	}
	manifest, err := store.Manifest{Config: config, Layers: layers}.Encode()
	if err != nil {
		return nil, err
	}
	return b.change.Put(ctx, name, manifest)
}

// from applies a FROM line.
func (b *builder) from(ctx context.Context, i Instruction, o origin) error {
	switch {
	case o.url != "":
		if b.recipe.remoteModel == "" {
			return i.errorf("a remote model needs its name on the server: PARAMETER model NAME")
		}
		b.remote = Remote{URL: o.url, Model: b.recipe.remoteModel}
		return nil
	case o.path == "":
		return b.inherit(i, o.name)
	}
	files, err := openWeights(o.path)
	if err != nil {
		return i.errorf("FROM %s: %v", i.Value, err)
	}
	for _, f := range files {
		if f.head.IsAdapter() {
			return i.errorf("FROM %s: the file is a LoRA adapter; use ADAPTER for it, and FROM for its model", i.Value)
		}
		mediaType, list, check := store.MediaTypeModel, &b.models, runnable
		if isProjector(f.head) {
			mediaType, list, check = store.MediaTypeProjector, &b.projectors, usable
		}
		if err := check(f.head); err != nil {
			return i.errorf("FROM %s: %v", i.Value, err)
		}
		layer, err := b.store(ctx, mediaType, f)
		if err != nil {
			return describe(i, err)
		}
		*list = append(*list, weight{layer, f.head})
	}
	return nil
}

// isProjector also recognizes Ollama's projectors, which are models with only a
// vision part.
func isProjector(head *gguf.File) bool {
	blocks, _ := head.Int(head.Key("block_count"))
	vision, _ := head.Int(head.Key("vision.block_count"))
	return head.IsProjector() || head.String("general.type") == "projector" || blocks == 0 && vision > 0
}

// store copies a file into the store, unless it is a blob of the store. A split
// GGUF file is merged.
func (b *builder) store(ctx context.Context, mediaType string, f weightFile) (store.Layer, error) {
	if layer, ok := b.blob(mediaType, f); ok {
		return layer, nil
	}
	progress := Progress{Status: "copying " + filepath.Base(f.path), Total: f.head.Size}
	if len(f.head.Paths) == 1 {
		return b.change.Import(ctx, mediaType, f.path, func(done int64) {
			progress.Done = done
			b.src.progress(progress)
		})
	}
	// llama.cpp finds the shards of a split file by their names, but blobs are
	// named by digest.
	whole, err := f.head.Merge()
	if err != nil {
		return store.Layer{}, err
	}
	defer whole.Close()
	progress.Status = fmt.Sprintf("merging the %d shards of %s", len(f.head.Paths), filepath.Base(f.path))
	progress.Total = whole.Size
	return b.change.Write(ctx, mediaType, &counted{whole, progress, b.src.progress})
}

// blob returns the layer of a blob path that [Of] wrote.
func (b *builder) blob(mediaType string, f weightFile) (store.Layer, bool) {
	hex, ok := strings.CutPrefix(filepath.Base(f.path), "sha256-")
	layer := store.Layer{MediaType: mediaType, Digest: digestOf(hex), Size: f.head.Size}
	return layer, ok && b.src.Store.BlobPath(layer.Digest) == f.path
}

// counted is a reader that reports progress.
type counted struct {
	r        io.Reader
	progress Progress
	tell     func(Progress)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.progress.Done += int64(n)
	c.tell(c.progress)
	return n, err
}

// adapt applies the ADAPTER lines.
func (b *builder) adapt(ctx context.Context) error {
	for _, i := range b.recipe.adapters {
		if b.isRemote() {
			return i.errorf("ADAPTER cannot be used with a remote model")
		}
		path, err := b.src.expand(i.Value)
		if err != nil {
			return i.errorf("ADAPTER %s: %v", shown(i.Value), err)
		}
		if b.draws() {
			if err := b.adaptImage(ctx, i, path); err != nil {
				return err
			}
			continue
		}
		files, err := openWeights(path)
		if err != nil {
			return i.errorf("ADAPTER %s: %v", i.Value, err)
		}
		if len(files) != 1 || !files[0].head.IsAdapter() {
			return i.errorf("ADAPTER %s: the file is not a LoRA adapter", i.Value)
		}
		if len(b.models) == 1 {
			if err := b.fits(files[0].head); err != nil {
				return i.errorf("ADAPTER %s: %v", i.Value, err)
			}
		}
		layer, err := b.store(ctx, store.MediaTypeAdapter, files[0])
		if err != nil {
			return describe(i, err)
		}
		b.adapters = append(b.adapters, weight{layer, files[0].head})
	}
	return nil
}

// fits fails if the model cannot use another adapter.
func (b *builder) fits(adapter *gguf.File) error {
	model := b.models[0].head
	if err := inspection.Adapter(model, adapter); err != nil {
		return err
	}
	return inspection.Adapters(model, append(headsOf(b.adapters), adapter))
}

func (b *builder) isRemote() bool { return b.remote != Remote{} }

// whole fails if the parts do not make a model.
func (b *builder) whole() error {
	last := b.recipe.from[len(b.recipe.from)-1]
	if b.isRemote() {
		if b.recipe.template != "" || len(b.models)+len(b.projectors) > 0 {
			return last.errorf("a remote model has its own chat template and files; only PARAMETER, SYSTEM, MESSAGE and LICENSE can be used with it")
		}
		return nil
	}
	if b.draws() {
		return b.wholeImage(last)
	}
	switch {
	case b.recipe.drawing() != "":
		return b.recipe.lines[b.recipe.drawing()].errorf("PARAMETER %s is for an image model", b.recipe.drawing())
	case b.remoteOnly() != nil:
		return b.remoteOnly()
	case len(b.models) == 0:
		return last.errorf("FROM names only a projector; add a FROM line for its model")
	case len(b.models) > 1:
		return last.errorf("FROM names %d models; a Modelfile has one, and optionally a projector", len(b.models))
	case len(b.projectors) > 1:
		return last.errorf("FROM names %d projectors; a Modelfile has at most one", len(b.projectors))
	case len(b.projectors) == 1:
		if err := inspection.Pair(b.models[0].head, b.projectors[0].head); err != nil {
			return last.errorf("FROM %s: %v", last.Value, err)
		}
	}
	return b.drafted()
}

// runnable checks by its metadata that a model can be loaded, before gigabytes
// are copied.
func runnable(model *gguf.File) error {
	if err := inspection.Model(model.Paths[0], model); err != nil {
		return fmt.Errorf("the model cannot be loaded: %w", err)
	}
	return nil
}

// usable is runnable for a projector.
func usable(projector *gguf.File) error {
	if err := inspection.Projector(projector); err != nil {
		return fmt.Errorf("the projector cannot be used: %w", err)
	}
	return nil
}

func (b *builder) warn() {
	for _, w := range b.recipe.warnings {
		b.src.warn(w)
	}
	b.warnUnused()
	// The base model's REQUIRES is not compared: most are versions of Ollama.
	if want := b.recipe.requires; b.src.Version != "" && older(b.src.Version, want) {
		b.src.warn(fmt.Sprintf("REQUIRES %s is newer than this version, %s; the model may not work, unless a version of Ollama is meant.", want, b.src.Version))
	}
}

// write stores a value as JSON, encoded as Ollama does.
func (b *builder) write(ctx context.Context, mediaType string, value any) (store.Layer, error) {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(value); err != nil {
		return store.Layer{}, err
	}
	return b.change.Write(ctx, mediaType, &text)
}

// heads are the files that the config describes.
func (b *builder) heads() []*gguf.File {
	return headsOf(slices.Concat(b.models, b.projectors, b.adapters))
}

func headsOf(weights []weight) []*gguf.File {
	var heads []*gguf.File
	for _, w := range weights {
		heads = append(heads, w.head)
	}
	return heads
}
