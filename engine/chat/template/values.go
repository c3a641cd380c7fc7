package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// pair is an item of a dict.
type pair struct {
	key   string
	value jinja.Value
}

// dict returns a dict with its items in the given order.
func dict(pairs ...pair) jinja.Value {
	v := jinja.NewDict()
	d := v.AsDict()
	for _, p := range pairs {
		d.Set(p.key, p.value)
	}
	return v
}

// word is the value of a text that needs no mask.
func word(s string) jinja.Value { return jinja.NewString(s) }

// fromJSON converts JSON. Fields keep their order, integers stay integers, and all
// strings, keys included, are masked.
func fromJSON(raw []byte, mask func(string) string) (jinja.Value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	r := jsonReader{decoder: d, mask: mask}
	v, err := r.value(0)
	if err != nil {
		return jinja.Undefined(), err
	}
	if d.More() {
		return jinja.Undefined(), errors.New("text behind the JSON value")
	}
	return v, nil
}

type jsonReader struct {
	decoder *json.Decoder
	mask    func(string) string
}

func (r *jsonReader) value(depth int) (jinja.Value, error) {
	if depth > bounds.MaxNesting {
		return jinja.Undefined(), fmt.Errorf("JSON nests deeper than %d", bounds.MaxNesting)
	}
	token, err := r.decoder.Token()
	if err != nil {
		return jinja.Undefined(), err
	}
	switch x := token.(type) {
	case json.Delim:
		if x == '{' {
			return r.object(depth)
		}
		return r.array(depth)
	case json.Number:
		return numberValue(x), nil
	case string:
		return jinja.NewString(r.mask(x)), nil
	case bool:
		return jinja.NewBool(x), nil
	}
	return jinja.None(), nil
}

func (r *jsonReader) object(depth int) (jinja.Value, error) {
	v := jinja.NewDict()
	d := v.AsDict()
	for r.decoder.More() {
		key, err := r.decoder.Token()
		if err != nil {
			return v, err
		}
		member, err := r.value(depth + 1)
		if err != nil {
			return v, err
		}
		d.Set(r.mask(key.(string)), member) // the decoder allows only strings here
	}
	_, err := r.decoder.Token()
	return v, err
}

func (r *jsonReader) array(depth int) (jinja.Value, error) {
	var items []jinja.Value
	for r.decoder.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return jinja.Undefined(), err
		}
		items = append(items, item)
	}
	_, err := r.decoder.Token()
	return jinja.NewList(items), err
}

// numberValue distinguishes 1 from 1.0, as Python does. An integer beyond 64 bits
// becomes a float.
func numberValue(n json.Number) jinja.Value {
	if !strings.ContainsAny(string(n), ".eE") {
		if i, err := n.Int64(); err == nil {
			return jinja.NewInt(i)
		}
	}
	f, err := n.Float64()
	if err != nil {
		return jinja.NewString(string(n))
	}
	return jinja.NewFloat(f)
}
