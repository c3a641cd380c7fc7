package format

import (
	"encoding/json"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// jsonCall reads calls that are one JSON object: {"name": …, "arguments": …}.
// Members may come in any order and others are skipped.
type jsonCall struct {
	name      []string // members that hold the name; none: the only member is named like the tool
	arguments []string // members that hold the arguments
	id        string   // member that holds an id, or empty
	first     []string // members that may be the first: others are no call. None: any
}

// head finds the name. The body begins with the object again, since the
// arguments may stand before the name.
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
			// A number or an object as an id is no reason to lose the call.
			_ = json.Unmarshal(text, &h.id)
		}
	}
}

// jsonKey reads a member's name, the colon and the white space behind it.
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

func (j jsonCall) body() callBody {
	return &jsonCallBody{keys: j.arguments, any: len(j.name) == 0}
}

func (j jsonCall) grammar(t *tool) grammar.Node {
	if len(j.name) == 0 {
		return spaced("{", quote(t.name), ":", t.grammar, "}")
	}
	return spaced("{", quote(j.name[0]), ":", quote(t.name), ",", quote(j.arguments[0]), ":", t.grammar, "}")
}

// spaced is nodes and literals with white space between them, as JSON allows.
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

// jsonCallBody gives out the arguments of a call that is one JSON object,
// byte for byte.
type jsonCallBody struct {
	keys    []string
	any     bool // the value of any member is the arguments
	inside  bool // the object was opened
	value   bool // inside a member's value
	wanted  bool // which is the arguments
	quoted  bool // which are a string that holds JSON
	extent  jsonExtent
	decoded []byte // the quoted arguments so far, as they are spelled
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
			at++ // the head has seen the bracket
			j.inside = true
		default:
			at += skim(b[at:], " \t\r\n,")
			if begins(b[at:], "}") == yes {
				return at + 1, true
			}
			key, n, v := jsonKey(b[at:])
			if v != yes {
				// Broken behind the name: what came is the call.
				return at, v == no
			}
			at += n
			j.startValue(key, b[at])
		}
	}
}

func (j *jsonCallBody) startValue(key string, first byte) {
	j.value = true
	j.wanted = (j.any || slices.Contains(j.keys, key)) && first != 'n' // null is as good as absent
	j.quoted = j.wanted && first == '"'
	j.extent = jsonExtent{}
}

// readValue reads a member's value and reports whether it ended.
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

// unquote gives out arguments that the model wrote as a string holding JSON.
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
