package modelfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// params are the parameters of a model by name, as its layer has them: values
// as [parameter.read] makes them, and a json.RawMessage for what is not known or
// not right. Such a one is kept: another program may know it.
type params map[string]any

// readParams reads a layer.
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

// parameters is what has an effect.
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

// warnings name each parameter that has no effect, and say why.
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
		return "it is not known"
	case known.set == nil:
		return known.why
	case isRaw:
		_, err := known.readJSON(raw)
		return err.Error()
	}
	return ""
}
