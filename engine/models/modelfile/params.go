package modelfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// params are the parameters in a layer, by name: values of [parameter.read], or a
// json.RawMessage for unknown and invalid ones, which are kept for other programs.
type params map[string]any

// readParams parses a layer.
func readParams(raw []byte) (params, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("the parameters are not a JSON object: %w", err)
	}
	values := params{}
	for name, member := range members {
		if bytes.Equal(bytes.TrimSpace(member), []byte("null")) {
			continue
		}
		values[name] = member
		if p, ok := find(name); ok && p.kind != word {
			if v, err := p.readJSON(member); err == nil {
				values[name] = v
			}
		}
	}
	return values, nil
}

// parameters returns the parameters with an effect.
func (v params) parameters() Parameters {
	var p Parameters
	for _, known := range table {
		value, ok := v[known.name]
		if _, raw := value.(json.RawMessage); ok && !raw && known.set != nil {
			known.set(&p, value)
		}
	}
	return p
}

// warnings explains each parameter without effect.
func (v params) warnings() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if why := v.idle(name); why != "" {
			if _, ok := find(name); !ok {
				name = shown(name)
			}
			all = append(all, fmt.Sprintf("PARAMETER %s has no effect: %s.", name, why))
		}
	}
	return all
}

func (v params) idle(name string) string {
	known, ok := find(name)
	raw, isRaw := v[name].(json.RawMessage)
	switch {
	case !ok || known.kind == word:
		return "it is unknown"
	case known.set == nil:
		return known.why
	case isRaw:
		_, err := known.readJSON(raw)
		return err.Error()
	}
	return ""
}
