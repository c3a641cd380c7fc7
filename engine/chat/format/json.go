package format

import (
	"encoding/json"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// jsonCall parses calls that are one JSON object: {"name": …, "arguments": …}.
// Fields may come in any order; unknown ones are skipped.
type jsonCall struct {
	name      []string // fields that hold the name; none: {"NAME": arguments}
	arguments []string // fields that hold the arguments
	id        string   // field that holds an id, or empty
	first     []string // a call begins with one of these fields; none: with any
}

// head finds the name. The body starts over at the object, since the arguments
// may precede the name.
func (j jsonCall) head(b []byte, tools Tools) (head, verdict) {
	var h head
	at, v := spaces(b), yes
	if v = begins(b[at:], "{"); v != yes {
		return h, v
	}
	at++
	for n := 0; ; n++ {
		at += skim(b[at:], " \t\r\n,")
		key, size, v := jsonKey(b[at:])
		if v != yes {
			return h, v
		}
		if n == 0 && len(j.first) > 0 && !slices.Contains(j.first, key) {
			return h, no
		}
		at += size
		if len(j.name) == 0 {
			h.name, h.body = key, j.body()
			return h, tools.knows(key)
		}
		length, v := jsonLength(b[at:])
		if v != yes {
			return h, v
		}
		text := b[at : at+length]
		at += length
		switch {
		case slices.Contains(j.name, key):
			if json.Unmarshal(text, &h.name) != nil {
				return h, no
			}
			h.body = j.body()
			return h, tools.knows(h.name)
		case j.id != "" && key == j.id:
			// An id that is not a string does not invalidate the call.
			_ = json.Unmarshal(text, &h.id)
		}
	}
}

// jsonKey parses a field's name, the colon and the white space after it.
func jsonKey(b []byte) (key string, size int, v verdict) {
	if v := begins(b, `"`); v != yes {
		return "", 0, v
	}
	n, v := jsonLength(b)
	if v != yes {
		return "", 0, v
	}
	if json.Unmarshal(b[:n], &key) != nil {
		return "", 0, no
	}
	n += spaces(b[n:])
	if v := begins(b[n:], ":"); v != yes {
		return "", 0, v
	}
	n++
	n += spaces(b[n:])
	if n == len(b) {
		return "", 0, perhaps
	}
	return key, n, yes
}

func (j jsonCall) body() argumentsParser {
	return &jsonCallBody{keys: j.arguments, any: len(j.name) == 0}
}

func (j jsonCall) grammar(t *tool) grammar.Node {
	if len(j.name) == 0 {
		return spaced("{", quote(t.name), ":", t.grammar, "}")
	}
	return spaced("{", quote(j.name[0]), ":", quote(t.name), ",", quote(j.arguments[0]), ":", t.grammar, "}")
}

// spaced is a sequence of nodes and literals with optional white space between.
func spaced(parts ...any) grammar.Node {
	var list []grammar.Node
	for i, p := range parts {
		if i > 0 {
			list = append(list, grammar.Whitespace())
		}
		switch p := p.(type) {
		case string:
			list = append(list, grammar.Literal(p))
		case grammar.Node:
			list = append(list, p)
		}
	}
	return grammar.Seq(list...)
}

// jsonCallBody copies the arguments of a call that is one JSON object.
type jsonCallBody struct {
	keys    []string
	any     bool // the value of any field is the arguments
	inside  bool // after the opening brace
	value   bool // inside a field's value
	wanted  bool // the value is the arguments
	quoted  bool // the arguments are a string that contains JSON
	extent  jsonExtent
	decoded []byte // the quoted arguments so far
}

func (j *jsonCallBody) read(b []byte, final bool, out *writer) (int, bool) {
	at := 0
	for {
		switch {
		case j.value:
			n, ended := j.readValue(b[at:], out)
			at += n
			if !ended {
				if final {
					j.unquote(out)
				}
				return at, false
			}
			j.value = false
		case !j.inside:
			at += spaces(b[at:])
			if at == len(b) {
				return at, false
			}
			at++ // the brace, checked by head
			j.inside = true
		default:
			at += skim(b[at:], " \t\r\n,")
			if begins(b[at:], "}") == yes {
				return at + 1, true
			}
			key, n, v := jsonKey(b[at:])
			if v != yes {
				// Malformed after the name: the call ends here.
				return at, v == no
			}
			at += n
			j.startValue(key, b[at])
		}
	}
}

func (j *jsonCallBody) startValue(key string, first byte) {
	j.value = true
	j.wanted = (j.any || slices.Contains(j.keys, key)) && first != 'n' // null counts as absent
	j.quoted = j.wanted && first == '"'
	j.extent = jsonExtent{}
}

// readValue reads a field's value and reports whether it is complete.
func (j *jsonCallBody) readValue(b []byte, out *writer) (n int, ended bool) {
	for n < len(b) && !ended {
		switch j.extent.next(b[n]) {
		case extentInside:
			n++
		case extentLast:
			n++
			ended = true
		case extentBehind:
			ended = true
		}
	}
	switch {
	case j.quoted:
		j.decoded = append(j.decoded, b[:n]...)
		if ended {
			j.unquote(out)
		}
	case j.wanted:
		out.callArguments(b[:n])
	}
	return n, ended
}

// unquote writes arguments that the model wrote as a string containing JSON.
func (j *jsonCallBody) unquote(out *writer) {
	if !j.quoted {
		return
	}
	var text string
	if json.Unmarshal([]byte(engine.DecodeText(j.decoded)), &text) == nil && (text == "" || json.Valid([]byte(text))) {
		out.callArguments([]byte(text))
	} else {
		out.callArguments(j.decoded)
	}
	j.decoded = nil
}
