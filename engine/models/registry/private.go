package registry

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/models/store"
)

// object is a JSON object with undecoded fields.
type object map[string]json.RawMessage

// public is the manifest to push. It is unchanged unless a layer's "from" is a
// path on this machine, which is removed.
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

// withoutPath removes the path from a layer, in any case of "from" that
// encoding/json accepts.
func (o object) withoutPath() object {
	for name, raw := range o {
		var from string
		if strings.EqualFold(name, "from") && json.Unmarshal(raw, &from) == nil && isPath(from) {
			delete(o, name)
		}
	}
	return o
}

// isPath reports whether from is a path and not a model name.
func isPath(from string) bool {
	if from == "" {
		return false
	}
	_, err := store.ParseName(from)
	return err != nil
}
