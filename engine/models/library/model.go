package library

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
)

// File is a model outside the store.
type File struct {
	Name      string // any text
	Path      string // of the GGUF file
	Projector string // vision projector; empty: none

	// Parts are the files of an image model, the diffusion model first, in place of
	// the other two. Empty: a language model.
	Parts []string
}

// model is a manifest of the store, or one in memory for a file.
type model struct {
	name   string
	digest digest.Digest // of the manifest
	layers []store.Layer
	stored *store.Model // nil: a file
	file   File         // if not stored
}

// first is the path of the file that makes the model.
func (f File) first() string {
	if len(f.Parts) > 0 {
		return f.Parts[0]
	}
	return f.Path
}

func ofStore(m *store.Model) *model {
	return &model{name: m.Name.String(), digest: m.Digest, layers: m.Manifest.Layers, stored: m}
}

// ofFile makes the manifest of a file. Its layers have no digests, because hashing
// a large file would delay the start by minutes.
func ofFile(f File) *model {
	layers := []store.Layer{{MediaType: store.MediaTypeModel, From: f.Path}}
	if len(f.Parts) > 0 {
		layers = nil
	}
	for _, path := range f.Parts {
		layers = append(layers, store.Layer{MediaType: store.MediaTypeDiffusion, From: path})
	}
	if f.Projector != "" {
		layers = append(layers, store.Layer{MediaType: store.MediaTypeProjector, From: f.Projector})
	}
	text, _ := store.Manifest{Layers: layers}.Encode() // cannot fail: only strings
	return &model{name: f.Name, digest: digest.FromBytes(text), layers: layers, file: f}
}

func (m *model) describe() engine.Model {
	return engine.Model{Name: m.name, Owner: engine.Owner(m.name), Changed: m.changed(), TextOnly: m.blind(), Draws: m.draws()}
}

func (m *model) changed() time.Time {
	if m.stored != nil {
		return m.stored.Changed
	}
	info, err := os.Stat(m.file.first())
	if err != nil {
		return time.Time{} // unknown
	}
	return info.ModTime()
}

// blind reports whether a model has weights here and nothing that reads
// pictures. What one that is served elsewhere takes is not known.
func (m *model) blind() bool {
	has := func(mediaType string) bool {
		return slices.ContainsFunc(m.layers, func(l store.Layer) bool { return l.MediaType == mediaType })
	}
	return has(store.MediaTypeModel) && !has(store.MediaTypeProjector)
}

// define reads a model, and logs its parts without effect.
func (e *Engine) define(m *model) (*modelfile.Definition, error) {
	if m.stored == nil {
		return &modelfile.Definition{Model: m.file.Path, Projector: m.file.Projector, Parts: m.file.Parts}, nil
	}
	definition, err := modelfile.Read(e.config.Store, m.stored)
	if err != nil {
		return nil, err
	}
	for _, w := range definition.Warnings {
		e.config.Log.Warn("part of a Modelfile has no effect", "model", m.name, "warning", w)
	}
	return definition, nil
}

// broken is the error for an invalid model. The cause, which names files, is only
// for the log.
func (e *Engine) broken(name string, err error) *engine.Error {
	if errors.Is(err, context.Canceled) {
		return engine.AsError(err)
	}
	broken := engine.Errorf(engine.CodeInternal, "The model %q is broken in the store; pull or create it again.", name)
	if e.file(name) != nil {
		broken = engine.Errorf(engine.CodeInternal, "The file of the model %q cannot be loaded any more.", name)
	}
	broken = broken.At(engine.Place{Field: engine.FieldModel}).Because(err)
	broken.NoRetry = true
	return broken
}

// draws reports whether m is an image model. Of another server's model that is unknown.
func (m *model) draws() bool {
	return slices.ContainsFunc(m.layers, func(l store.Layer) bool { return l.MediaType == store.MediaTypeDiffusion })
}
