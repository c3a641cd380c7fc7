package dialect

import (
	"encoding/json/v2"
	"fmt"

	"github.com/diglot/diglot/openapi/conformance"
)

// Object is a decoded JSON object. Its methods return zero values for what is not there.
type Object map[string]any

// Text is a member that is a string.
func (o Object) Text(name string) string {
	s, _ := o[name].(string)
	return s
}

// Number is a member that is a number.
func (o Object) Number(name string) (float64, bool) {
	n, ok := o[name].(float64)
	return n, ok
}

// Count is a whole number, or -1.
func (o Object) Count(name string) int {
	n, ok := o[name].(float64)
	if !ok {
		return -1
	}
	return int(n)
}

// Object is a member that is an object.
func (o Object) Object(name string) Object {
	inner, _ := o[name].(map[string]any)
	return inner
}

// Objects lists the objects of an array.
func (o Object) Objects(name string) []Object {
	list, _ := o[name].([]any)
	var all []Object
	for _, item := range list {
		if inner, ok := item.(map[string]any); ok {
			all = append(all, inner)
		}
	}
	return all
}

// Bytes is a member that lists bytes; nil if it is not a list.
func (o Object) Bytes(name string) []byte {
	list, ok := o[name].([]any)
	if !ok {
		return nil
	}
	all := []byte{}
	for _, item := range list {
		n, _ := item.(float64)
		all = append(all, byte(n))
	}
	return all
}

// Body is the reply as a JSON object, or an error that says what else it is.
func Body(x *conformance.Exchange) (Object, error) {
	var o Object
	err := x.JSON(&o)
	return o, err
}

// Events are the events of a stream that hold JSON objects, in order: all but [DONE].
func Events(x *conformance.Exchange) ([]Object, error) {
	var all []Object
	frames, _ := x.Frames()
	for _, f := range frames {
		if f.Data == "[DONE]" {
			continue
		}
		event, err := decode(f.Data)
		if err != nil {
			return all, err
		}
		all = append(all, event)
	}
	return all, nil
}

// plain is a request's body under construction: set leaves zero values out.
type plain map[string]any

func (p plain) set(name string, value any) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return
		}
	case int:
		if v == 0 {
			return
		}
	case bool:
		if !v {
			return
		}
	case *float64:
		if v == nil {
			return
		}
	case *int:
		if v == nil {
			return
		}
	case []string:
		if len(v) == 0 {
			return
		}
	case []any:
		if len(v) == 0 {
			return
		}
	case map[string]int:
		if len(v) == 0 {
			return
		}
	case nil:
		return
	}
	p[name] = value
}

func decode(data string) (Object, error) {
	var o Object
	if err := json.Unmarshal([]byte(data), &o); err != nil {
		return nil, fmt.Errorf("an event is no JSON object: %s", data)
	}
	return o, nil
}

// encode is a value as JSON text, for fields that hold JSON as a string.
func encode(value any) string {
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return "null"
	}
	return string(text)
}

type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d, want 200", int(e)) }
