package modelfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/diglot/diglot/engine/models/store"
)

// Of returns a Modelfile that recreates the model on this machine: its FROM lines
// name blobs of the store. Comments name what a Modelfile cannot express.
func Of(s *store.Store, m *store.Model) (*File, error) {
	config, err := s.Config(m)
	if err != nil {
		return nil, err
	}
	w := &writer{store: s}
	w.add(Comment, "", "This file recreates the model on this machine. To build on the model, replace the FROM lines by:")
	w.add(Comment, "", "FROM "+m.Name.String())
	if config.RemoteHost != "" {
		w.add(From, "", config.RemoteHost)
		w.add(Parameter, parameterModel, config.RemoteModel)
	}
	w.text(Renderer, config.Renderer)
	w.text(Parser, config.Parser)
	w.text(Requires, config.Requires)
	for _, l := range m.Manifest.Layers {
		if err := w.layer(l); err != nil {
			return nil, fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	w.sort()
	return &w.file, nil
}

// writer makes a Modelfile from layers.
type writer struct {
	store *store.Store
	file  File
}

func (w *writer) add(name, key, value string) {
	w.file.Instructions = append(w.file.Instructions, Instruction{Name: name, Key: key, Value: value})
}

// text adds an instruction unless its value is empty.
func (w *writer) text(name, value string) {
	if value != "" {
		w.add(name, "", value)
	}
}

func (w *writer) layer(l store.Layer) error {
	switch l.MediaType {
	case store.MediaTypeModel, store.MediaTypeProjector, store.MediaTypeDiffusion, store.MediaTypeDiffusionPart:
		w.add(From, "", w.store.BlobPath(l.Digest))
	case store.MediaTypeAdapter, store.MediaTypeDiffusionLoRA:
		w.add(Adapter, "", w.store.BlobPath(l.Digest))
	case store.MediaTypeTemplate, mediaTypePrompt:
		return w.blob(Template, l)
	case store.MediaTypeSystem:
		return w.blob(System, l)
	case store.MediaTypeLicense:
		return w.blob(License, l)
	case store.MediaTypeParams:
		return w.params(l)
	case store.MediaTypeMessages:
		return w.messages(l)
	default:
		w.add(Comment, "", fmt.Sprintf("Omitted: a layer of type %s.", shown(l.MediaType)))
	}
	return nil
}

func (w *writer) blob(name string, l store.Layer) error {
	if l.Size > maxText {
		w.add(Comment, "", fmt.Sprintf("Omitted: %s of %d bytes; the limit in a Modelfile is %d.", name, l.Size, maxText))
		return nil
	}
	raw, err := w.store.ReadBlob(l, maxText)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !utf8.Valid(raw) {
		w.add(Comment, "", "Omitted: "+name+", which is not UTF-8.")
		return nil
	}
	w.text(name, string(raw))
	return nil
}

func (w *writer) params(l store.Layer) error {
	raw, err := w.store.ReadBlob(l, maxText)
	if err != nil {
		return fmt.Errorf("the parameters: %w", err)
	}
	values, err := readParams(raw)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		known, ok := find(name)
		if _, raw := values[name].(json.RawMessage); !ok || raw {
			w.add(Comment, "", fmt.Sprintf("Omitted: PARAMETER %s, whose name or value is unknown.", shown(name)))
			continue
		}
		for _, text := range known.text(values[name]) {
			w.add(Parameter, name, text)
		}
	}
	return nil
}

func (w *writer) messages(l store.Layer) error {
	turns, err := readTurns(w.store, l)
	if err != nil {
		return err
	}
	for n, t := range turns {
		if !slices.Contains(roles, t.Role) || len(t.Images) > 0 {
			w.add(Comment, "", fmt.Sprintf("Omitted: part of message %d; a Modelfile has only texts of %v.", n+1, roles))
		}
		if slices.Contains(roles, t.Role) {
			w.add(Message, t.Role, t.Content)
		}
	}
	return nil
}

// sort sorts the instructions as a person would write them, and keeps the order
// of those with the same name.
func (w *writer) sort() {
	order := []string{Comment, From, Adapter, Parameter, Template, System, Message, Renderer, Parser, Requires, License}
	slices.SortStableFunc(w.file.Instructions, func(a, b Instruction) int {
		return slices.Index(order, a.Name) - slices.Index(order, b.Name)
	})
}
