package difference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// decode returns a JSON value, whose numbers are as they were written.
func decode(text string) (any, bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil || decoder.More() {
		return nil, false
	}
	return v, true
}

// event is one event of a stream.
type event struct {
	kind string // its name, or its type; chunk: a JSON object without either
	data any    // nil: not JSON
}

// events returns the events of a stream, without comments.
func events(body string) []event {
	var all []event
	for frame := range strings.SplitSeq(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		name, data := "", []string{}
		for line := range strings.Lines(frame) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
			value = strings.TrimPrefix(value, " ")
			switch key {
			case "event":
				name = value
			case "data":
				data = append(data, value)
			}
		}
		if name != "" || len(data) > 0 {
			all = append(all, newEvent(name, strings.Join(data, "\n")))
		}
	}
	return all
}

func newEvent(name, text string) event {
	v, ok := decode(text)
	if !ok {
		return event{kind: strings.TrimSpace(name + " " + text[:min(len(text), 20)])}
	}
	if o, isObject := v.(object); isObject && name == "" {
		name = "chunk"
		if kind, ok := o["type"].(string); ok {
			name = kind
		}
		if _, failed := o["error"]; failed {
			name = "error"
		}
	}
	return event{name, v}
}

// compareStreams compares the order of events, and the events of each name.
func compareStreams(before, now string) []finding {
	a, b := events(before), events(now)
	var all []finding
	if was, is := order(a), order(b); was != is {
		all = append(all, finding{Kind: Order, Text: fmt.Sprintf("events %s, not %s", is, was)})
	}
	if was, is := ending(before), ending(now); was != is {
		all = append(all, finding{Kind: Order, Text: is + ", not " + was})
	}
	named := kinds(b)
	for _, kind := range kinds(a) {
		if !slices.Contains(named, kind) {
			continue // the order says so
		}
		for _, f := range compare(shapeOf(dataOf(a, kind)), shapeOf(dataOf(b, kind))) {
			f.Event = kind
			all = append(all, f)
		}
	}
	return all
}

// ending is how a stream ends: without a blank line, clients drop the last event.
func ending(body string) string {
	if strings.HasSuffix(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		return "a blank line at the end"
	}
	return "no blank line at the end"
}

// order is the names of events, where how often one is repeated does not count.
func order(all []event) string {
	var names []string
	for _, e := range all {
		names = append(names, described(e))
	}
	names = folded(names)
	const most = 16
	if len(names) > most {
		names = append(names[:most:most], "...")
	}
	return strings.Join(names, " > ")
}

// folded leaves out repetitions of one name, and of a pair or more.
func folded(names []string) []string {
	for period := 1; period <= 6; period++ {
		for i := 0; i+2*period <= len(names); {
			if slices.Equal(names[i:i+period], names[i+period:i+2*period]) {
				names = slices.Delete(names, i, i+period)
				continue
			}
			i++
		}
	}
	return names
}

// described is the name of an event; of a chunk, what it brings.
func described(e event) string {
	o, ok := e.data.(object)
	if !ok || e.kind != "chunk" {
		return e.kind
	}
	choices, _ := o["choices"].([]any)
	if len(choices) == 0 {
		return "chunk without choices"
	}
	choice, _ := choices[0].(object)
	delta, _ := choice["delta"].(object)
	var parts []string
	for _, name := range []string{"role", "reasoning_content", "content", "tool_calls"} {
		if v, ok := delta[name]; ok && v != nil && v != "" {
			parts = append(parts, name)
		}
	}
	if text, ok := choice["text"].(string); ok && text != "" {
		parts = append(parts, "text")
	}
	if choice["finish_reason"] != nil {
		parts = append(parts, "finish_reason")
	}
	if len(parts) == 0 {
		return "empty chunk"
	}
	return strings.Join(parts, "+")
}

func kinds(all []event) []string {
	var names []string
	for _, e := range all {
		if !slices.Contains(names, e.kind) {
			names = append(names, e.kind)
		}
	}
	return names
}

func dataOf(all []event, kind string) []any {
	var values []any
	for _, e := range all {
		if e.kind == kind && e.data != nil {
			values = append(values, e.data)
		}
	}
	return values
}
