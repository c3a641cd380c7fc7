package difference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// shape is what JSON values of one kind have in common: a field at each path, such as
// choices[].message.content. An item of a list that has a type is at content[text].
type shape map[string]*field

// field is what is at one path of some values.
type field struct {
	parent  string
	objects int // that could have it
	present int // that have it
	types   map[string]bool
	values  map[string]bool // those that do not depend on what a model says
}

// presence is how many of the objects have a field.
type presence int

const (
	nowhere presence = iota
	somewhere
	everywhere
)

func (f *field) presence() presence {
	switch {
	case f == nil || f.present == 0:
		return nowhere
	case f.present < f.objects:
		return somewhere
	}
	return everywhere
}

func (s shape) at(path, parent string) *field {
	f, ok := s[path]
	if !ok {
		f = &field{parent: parent, types: map[string]bool{}, values: map[string]bool{}}
		s[path] = f
	}
	return f
}

// whole is the path of a value that is in no other.
const whole = ""

// shapeOf returns the shape of some values.
func shapeOf(values []any) shape {
	s := shape{}
	for _, v := range values {
		s.add(whole, whole, v)
	}
	objects := map[string]int{}
	for path, f := range s {
		if f.types["object"] {
			objects[path] = f.present
		}
	}
	for path, f := range s {
		f.objects = objects[f.parent]
		if path == whole {
			f.objects = f.present
		}
	}
	return s
}

// object is a JSON object as it is decoded.
type object = map[string]any

func (s shape) add(path, parent string, v any) {
	f := s.at(path, parent)
	f.present++
	f.types[typeOf(v)] = true
	name := lastName(path)
	if text, ok := stable(name, v); ok {
		f.values[text] = true
	}
	if opaque[name] {
		return
	}
	switch v := v.(type) {
	case object:
		for key, inner := range v {
			s.add(strings.TrimPrefix(path+"."+key, "."), path, inner)
		}
	case []any:
		s.addItems(f, path, v)
	}
}

// addItems adds the items of a list. For their types, the order is noted too: it tells
// whether reasoning comes before an answer.
func (s shape) addItems(list *field, path string, items []any) {
	if counted[lastName(path)] {
		list.values[fmt.Sprintf("%d items", len(items))] = true
	}
	var order []string
	for _, item := range items {
		at := path + "[]"
		if o, ok := item.(object); ok {
			if kind, ok := o["type"].(string); ok {
				at = path + "[" + kind + "]"
				order = append(order, kind)
			}
		}
		s.add(at, path, item)
	}
	if order = slices.Compact(order); len(order) > 1 {
		list.values["order "+strings.Join(order, ", ")] = true
	}
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case object:
		return "object"
	}
	return "array"
}

var (
	// free are the fields whose values differ between servers, models and runs.
	free = regexp.MustCompile(`^(?:id|.*_id|created|.*_at|.*_ms|.*_per_second|.*_duration|content|text|delta|token|bytes|message|` +
		`arguments|partial_json|thinking|signature|encrypted_content|reasoning|reasoning_content|refusal|summary|` +
		`system_fingerprint|logprob|text_offset|embedding|b64_json|name|obfuscation|details|display_name)(?:\[.*)?$`)
	// opaque are the fields whose insides models and clients make.
	opaque = map[string]bool{"input": true, "arguments": true, "parameters": true, "input_schema": true, "schema": true, "properties": true, "metadata": true,
		"embedding": true, "bytes": true}
	// counted are the lists whose length a request asks for.
	counted = map[string]bool{"choices": true, "data": true}
	// word is the form of values that stand for something, unlike sentences.
	word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./:-]{0,60}$`)
)

// stable returns a value that two servers should agree on. Of a number of tokens that
// is whether it is zero.
func stable(name string, v any) (string, bool) {
	if strings.HasSuffix(name, "_tokens") || name == "tokens" {
		if n, ok := v.(json.Number); ok {
			return map[bool]string{true: "0", false: "more than 0"}[string(n) == "0"], true
		}
	}
	if free.MatchString(name) {
		return "", false
	}
	switch v := v.(type) {
	case bool:
		return fmt.Sprint(v), true
	case json.Number:
		return string(v), true
	case string:
		return v, word.MatchString(v)
	}
	return "", false
}

// lastName is the name of the field at a path.
func lastName(path string) string {
	return path[strings.LastIndexByte(path, '.')+1:]
}

// compare returns how now differs from before. What is inside something that is missing
// or added is not told.
func compare(before, now shape) []finding {
	paths := map[string]bool{}
	for path := range before {
		paths[path] = true
	}
	for path := range now {
		paths[path] = true
	}
	var all []finding
	gone, moved := map[string]bool{}, map[string]bool{}
	for _, path := range slices.SortedFunc(maps.Keys(paths), func(a, b string) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a, b))
	}) {
		a, b := before[path], now[path]
		parent := cmp.Or(a, b).parent
		if path != whole && gone[parent] {
			gone[path] = true
			continue
		}
		if a.presence() == nowhere || b.presence() == nowhere {
			gone[path] = true
		}
		for _, f := range compareField(path, a, b) {
			moved[path] = moved[path] || f.Kind == Presence
			if f.Kind != Presence || !moved[parent] {
				all = append(all, f)
			}
		}
	}
	return all
}

func depth(path string) int { return strings.Count(path, ".") + strings.Count(path, "[") }

func compareField(path string, a, b *field) []finding {
	switch {
	case b == nil:
		return []finding{{Kind: Missing, Path: path, Text: "missing"}}
	case a == nil:
		return []finding{{Kind: Added, Path: path, Text: "added"}}
	}
	var all []finding
	if was, is := a.presence(), b.presence(); was != is && !strings.HasSuffix(path, "]") {
		all = append(all, finding{Kind: Presence, Path: path, Text: map[bool]string{true: "always, not only in some", false: "only in some, not always"}[is > was]})
	}
	if was, is := list(a.types), list(b.types); was != is {
		all = append(all, finding{Kind: Type, Path: path, Text: is + ", not " + was})
	}
	if was, is := list(a.values), list(b.values); was != is && was != "" && is != "" {
		all = append(all, finding{Kind: Value, Path: path, Text: is + ", not " + was})
	}
	return all
}

// list writes a set.
func list(set map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), " or ")
}
