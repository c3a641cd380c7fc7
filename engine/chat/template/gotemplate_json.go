package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/internal/plainjson"
)

// jsonText is the client's JSON as it is, for templates that only print it.
type jsonText string

// MarshalJSON implements [json.Marshaler].
func (t jsonText) MarshalJSON() ([]byte, error) {
	if json.Valid([]byte(t)) {
		return []byte(t), nil
	}
	return plainjson.Marshal(string(t)) // malformed arguments of a model
}

// printJSON is goJSON without the error.
func printJSON(v any) string {
	text, _ := goJSON(v)
	return text
}

// decodeJSON keeps numbers as written.
func decodeJSON(raw []byte, target any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(target)
}

// maskJSON masks every string in JSON, keys included, and compacts it. The order
// of fields stays.
func maskJSON(raw []byte, mask func(string) string) (jsonText, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	w := jsonMasker{decoder: d, mask: mask}
	if err := w.value(0); err != nil {
		return "", err
	}
	if d.More() {
		return "", errors.New("text behind the JSON value")
	}
	return jsonText(w.out.String()), nil
}

type jsonMasker struct {
	decoder *json.Decoder
	mask    func(string) string
	out     strings.Builder
}

func (w *jsonMasker) value(depth int) error {
	if depth > bounds.MaxNesting {
		return fmt.Errorf("JSON nests deeper than %d", bounds.MaxNesting)
	}
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	switch x := token.(type) {
	case json.Delim:
		return w.members(x, depth)
	case json.Number:
		w.out.WriteString(x.String())
	case string:
		w.out.WriteString(printJSON(w.mask(x)))
	default:
		w.out.WriteString(printJSON(x))
	}
	return nil
}

// members reads an object or array after its opening bracket.
func (w *jsonMasker) members(open json.Delim, depth int) error {
	w.out.WriteString(open.String())
	for i := 0; w.decoder.More(); i++ {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if open == '{' {
			if err := w.value(depth + 1); err != nil {
				return err
			}
			w.out.WriteByte(':')
		}
		if err := w.value(depth + 1); err != nil {
			return err
		}
	}
	end, err := w.decoder.Token()
	if err != nil {
		return err
	}
	w.out.WriteString(end.(json.Delim).String())
	return nil
}

// goJSON writes JSON without HTML escapes, as models know it.
func goJSON(v any) (string, error) {
	if text, ok := v.(jsonText); ok {
		return string(text), nil
	}
	b, err := plainjson.Marshal(v)
	return string(b), err
}
