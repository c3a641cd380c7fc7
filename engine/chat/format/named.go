package format

import (
	"bytes"
	"strings"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// maxHead limits the search for the end of a name, in bytes.
const maxHead = 512

// namedCall parses calls that are a name and a JSON object:
//
//	prefix NAME [idMark ID] mark {…}
//	ID idFirst NAME mark {…}
type namedCall struct {
	prefix  string // before the name
	idMark  string // between the name and an id; empty: no id
	idFirst string // between a leading id and the name; empty: no leading id
	mark    string // before the arguments
	indexed bool   // the name is "functions.NAME:0", which is also the call id
}

func (n namedCall) head(b []byte, tools Tools) (head, verdict) {
	var h head
	at := spaces(b)
	if v := begins(b[at:], n.prefix); v != yes {
		return h, v
	}
	at += len(n.prefix)
	size := bytes.Index(b[at:], []byte(n.mark))
	if size < 0 {
		if len(b)-at > maxHead {
			return h, no
		}
		return h, n.nameBegins(b[at:], tools)
	}
	name := string(b[at : at+size])
	h.size = at + size + len(n.mark)
	if n.idMark != "" {
		name, h.id, _ = strings.Cut(name, n.idMark)
		h.id = strings.TrimSpace(h.id)
	}
	if n.idFirst != "" {
		var found bool
		if h.id, name, found = strings.Cut(name, n.idFirst); !found {
			return h, no
		}
		h.id = strings.TrimSpace(h.id)
	}
	h.name = strings.TrimSpace(name)
	if n.indexed {
		h.id = h.name
		h.name = strings.TrimPrefix(h.name, "functions.")
		if i := strings.LastIndexByte(h.name, ':'); i >= 0 {
			h.name = h.name[:i]
		}
	}
	h.body = &jsonBody{}
	return h, tools.knows(h.name)
}

// nameBegins is the verdict on text that ends before the name does.
func (n namedCall) nameBegins(b []byte, tools Tools) verdict {
	b = b[spaces(b):]
	if n.idFirst != "" {
		return perhaps // behind an id, which may be anything
	}
	if n.indexed {
		switch v := begins(b, "functions."); v {
		case perhaps:
			return v
		case yes:
			b = b[len("functions."):]
		}
	}
	return tools.begin(b)
}

func (n namedCall) grammar(t *tool) grammar.Node {
	name := []grammar.Node{grammar.Literal(n.prefix + t.name)}
	if n.idMark != "" {
		name = append(name, grammar.Optional(grammar.Seq(grammar.Literal(n.idMark), grammar.Until(n.mark))))
	}
	if n.idFirst != "" {
		name = []grammar.Node{grammar.Until(n.idFirst), grammar.Literal(n.idFirst + t.name)}
	}
	if n.indexed {
		name = []grammar.Node{grammar.Literal(n.prefix + "functions." + t.name + ":"), grammar.Until(n.mark)}
	}
	return grammar.Seq(append(name, grammar.Literal(n.mark), grammar.Whitespace(), t.grammar)...)
}

// jsonBody copies a JSON object or array. Anything else counts as no arguments.
type jsonBody struct {
	extent  jsonExtent
	started bool
}

func (j *jsonBody) read(b []byte, _ bool, out *writer) (int, bool) {
	start := 0
	if !j.started {
		start = spaces(b)
		if start == len(b) {
			return start, false
		}
		if b[start] != '{' && b[start] != '[' {
			return start, true
		}
		j.started = true
	}
	for i, c := range b[start:] {
		if j.extent.next(c) == extentLast {
			out.callArguments(b[start : start+i+1])
			return start + i + 1, true
		}
	}
	out.callArguments(b[start:])
	return len(b), false
}
