package dialect

import (
	"encoding/json/v2"
	"fmt"
)

// object is a decoded JSON object. Its methods return zero values for what is not there.
type object map[string]any

func (o object) text(name string) string {
	s, _ := o[name].(string)
	return s
}

func (o object) number(name string) (float64, bool) {
	n, ok := o[name].(float64)
	return n, ok
}

// count is a whole number, or -1.
func (o object) count(name string) int {
	n, ok := o[name].(float64)
	if !ok {
		return -1
	}
	return int(n)
}

func (o object) object(name string) object {
	inner, _ := o[name].(map[string]any)
	return inner
}

// objects lists the objects of an array.
func (o object) objects(name string) []object {
	list, _ := o[name].([]any)
	var all []object
	for _, item := range list {
		if inner, ok := item.(map[string]any); ok {
			all = append(all, inner)
		}
	}
	return all
}

func (o object) bytes(name string) []byte {
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

func decode(data string) (object, error) {
	var o object
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
