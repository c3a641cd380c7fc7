package registry

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/models/store"
)

// object is JSON whose members are left as they are.
type object map[string]json.RawMessage

// public is the manifest of a model as others may read it: the same bytes,
// unless a layer notes which file of this machine it was made from. That is
// nobody's business, and no part of what the model is.
func public(m *store.Model) ([]byte, error) {
	all := append(slices.Clone(m.Manifest.Layers), m.Manifest.Config)
	if !slices.ContainsFunc(all, func(l store.Layer) bool { return isPath(l.From) }) {
		return m.Raw, nil
	}
	var manifest object
	if err := json.Unmarshal(m.Raw, &manifest); err != nil {
		return nil, err
	}
	for name, raw := range manifest {
		var err error
		switch {
		case strings.EqualFold(name, "config"):
			var config object
			if err = json.Unmarshal(raw, &config); err == nil {
				manifest[name], err = json.Marshal(config.withoutPath())
			}
		case strings.EqualFold(name, "layers"):
			var layers []object
			if err = json.Unmarshal(raw, &layers); err == nil {
				for _, l := range layers {
					l.withoutPath()
				}
				manifest[name], err = json.Marshal(layers)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return json.Marshal(manifest)
}

// withoutPath takes the path out of a layer, under whatever spelling of the
// member encoding/json would find it.
func (o object) withoutPath() object {
	for name, raw := range o {
		var from string
		if strings.EqualFold(name, "from") && json.Unmarshal(raw, &from) == nil && isPath(from) {
			delete(o, name)
		}
	}
	return o
}

// isPath reports whether a layer was made from a file, and not from a model, whose
// name may stay.
func isPath(from string) bool {
	if from == "" {
		return false
	}
	_, err := store.ParseName(from)
	return err != nil
}
