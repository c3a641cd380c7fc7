package format

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// taggedCall parses calls that have each argument in tags:
//
//	nameOpen NAME nameEnd (keyOpen KEY keyEnd valueStart VALUE valueEnd)* end
//
// Strings are raw text, everything else is JSON. The tags are given without the
// white space around them, which models vary.
type taggedCall struct {
	nameOpen string // may be empty
	nameEnd  string // empty: white space or a tag ends the name
	keyOpen  string
	keyEnd   string

	valueStart string // may be empty
	valueEnd   string
	end        string // may be empty
	line       string // grammar: around values, "\n" or empty
	rawString  string // attribute of string values; empty: the schema decides
	rawJSON    string // attribute of JSON values
}

func (g taggedCall) head(b []byte, tools Tools) (head, verdict) {
	var h head
	at := spaces(b)
	if v := begins(b[at:], g.nameOpen); v != yes {
		return h, v
	}
	at += len(g.nameOpen)
	rest := b[at:]
	size := bytes.IndexAny(rest, " \t\r\n<")
	if g.nameEnd != "" {
		size = bytes.Index(rest, []byte(g.nameEnd))
	}
	if size < 0 {
		if len(rest) > maxHead {
			return h, no
		}
		return h, perhaps
	}
	h.name = strings.TrimSpace(string(rest[:size]))
	if tools.knows(h.name) == no {
		return h, no
	}
	h.size = at + size + len(g.nameEnd)
	h.body = &taggedBody{taggedCall: g, tool: tools[h.name],
		ends: newDelimiters([]delimiter{{text: g.valueEnd}, {text: "\n" + g.valueEnd}})}
	return h, yes
}

// taggedBody converts tagged arguments to a JSON object. Strings stream; other
// values are written once complete.
type taggedBody struct {
	taggedCall
	tool  *tool
	ends  *delimiters
	step  taggedStep
	count int
	text  bool // the value is a string
	value []byte
}

type taggedStep int

const (
	taggedTag   taggedStep = iota // before an argument or the end
	taggedFirst                   // before the first byte of a value
	taggedValue                   // inside a value
)

func (g *taggedBody) read(b []byte, final bool, out *writer) (int, bool) {
	at := 0
	for {
		switch g.step {
		case taggedTag:
			n, v := g.tag(b[at:], out)
			at += n
			switch {
			case v == yes:
			case v == perhaps && !final:
				return at, false
			default:
				if v == no {
					g.close(out)
				}
				return at, v == no
			}
		case taggedFirst:
			if at == len(b) {
				return at, false
			}
			if b[at] == '\n' {
				at++
			}
			g.step = taggedValue
		case taggedValue:
			n, hit := g.ends.find(b[at:], final)
			g.add(b[at:at+n], out)
			at += n
			if hit == nil {
				if final {
					g.endValue(out, false)
				}
				return at, false
			}
			at += len(hit.text)
			g.endValue(out, true)
			g.step = taggedTag
		}
	}
}

// tag parses the tag of an argument; no: the arguments end.
func (g *taggedBody) tag(b []byte, out *writer) (int, verdict) {
	at := spaces(b)
	if g.end != "" {
		switch begins(b[at:], g.end) {
		case yes:
			return at + len(g.end), no
		case perhaps:
			return 0, perhaps
		}
	}
	if v := begins(b[at:], g.keyOpen); v != yes {
		return 0, v
	}
	start := at + len(g.keyOpen)
	size := bytes.Index(b[start:], []byte(g.keyEnd))
	if size < 0 {
		if len(b)-start > maxHead {
			return 0, no
		}
		return 0, perhaps
	}
	key := strings.TrimSpace(string(b[start : start+size]))
	at = start + size + len(g.keyEnd)
	n, isText, v := g.valueOpening(b[at:], key)
	if v == perhaps {
		return 0, perhaps
	}
	at, g.text = at+n, isText
	g.open(key, out)
	g.step = taggedFirst
	return at, yes
}

// valueOpening parses what is between a key and its value, and reports whether the
// value is a string.
func (g *taggedBody) valueOpening(b []byte, key string) (n int, isText bool, v verdict) {
	if g.rawString != "" {
		isText := begins(b, g.rawString)
		isJSON := begins(b, g.rawJSON)
		switch {
		case isText == yes:
			return len(g.rawString), true, yes
		case isJSON == yes:
			return len(g.rawJSON), false, yes
		case isText == perhaps || isJSON == perhaps:
			return 0, false, perhaps
		}
	}
	if g.valueStart != "" {
		n = spaces(b)
		switch begins(b[n:], g.valueStart) {
		case yes:
			n += len(g.valueStart)
		case perhaps:
			return 0, false, perhaps
		}
	}
	known := slices.IndexFunc(g.tool.parameters, func(p *parameter) bool { return p.name == key })
	return n, known >= 0 && g.tool.parameters[known].isString, yes
}

func (g *taggedBody) open(key string, out *writer) {
	lead := ", "
	if g.count == 0 {
		lead = "{"
	}
	g.count++
	lead += quote(key) + ": "
	if g.text {
		lead += `"`
	}
	out.callArguments([]byte(lead))
	g.value = g.value[:0]
}

func (g *taggedBody) add(b []byte, out *writer) {
	if g.text {
		out.callArguments(escape(b))
	} else {
		g.value = append(g.value, b...)
	}
}

// endValue writes a collected value. What is not valid JSON becomes a string.
func (g *taggedBody) endValue(out *writer, complete bool) {
	if g.text {
		if complete {
			out.callArguments([]byte(`"`))
		}
		return
	}
	v := bytes.TrimSpace(g.value)
	switch word := string(v); {
	case word == "True" || word == "False":
		v = bytes.ToLower(v)
	case word == "None":
		v = []byte("null")
	case !complete:
		v = g.value
	case !json.Valid(v):
		v = append(append([]byte(`"`), escape(g.value)...), '"')
	}
	out.callArguments(v)
	g.value = g.value[:0]
}

func (g *taggedBody) close(out *writer) {
	if g.count > 0 {
		out.callArguments([]byte("}"))
	}
}

// grammar has the arguments in schema order; only so can it demand the required
// ones.
func (g taggedCall) grammar(t *tool) grammar.Node {
	start, end, space := g.line, g.line+g.valueEnd, grammar.Whitespace()
	if g.valueStart != "" { // it is on the line of the value
		start, end = g.line+g.valueStart, g.valueEnd
	}
	nodes := []grammar.Node{grammar.Literal(g.nameOpen + t.name + g.nameEnd), space}
	for _, p := range t.parameters {
		value, attribute := grammar.Until(g.valueEnd), g.rawString
		if !p.isString {
			value, attribute = p.json, g.rawJSON
		} else if words := p.words; len(words) > 0 {
			value = grammar.Choice(words...)
		}
		one := grammar.Seq(
			grammar.Literal(g.keyOpen+p.name+g.keyEnd+attribute+start),
			value, grammar.Literal(end), space)
		if !p.required {
			one = grammar.Optional(one)
		}
		nodes = append(nodes, one)
	}
	return grammar.Seq(append(nodes, grammar.Literal(g.end))...)
}
