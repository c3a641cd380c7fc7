package openapi

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// tree is a parsed JSON text: its values in order, each with its bytes. Nothing is decoded
// until a schema asks, so free-form JSON (tool schemas, arguments), most of a large body,
// is only scanned, and keeps its field order and spelling.
//
// An object's children alternate names and values; an array's are its items.
type tree struct {
	text     []byte
	nodes    []node
	replaced map[int32][]byte // what render writes for some nodes instead
}

type node struct {
	kind       jsontext.Kind
	dropped    bool  // left out by render
	integer    bool  // a number that render writes as an integer
	start, end int32 // of the value in the text
	next       int32 // index of the first node after this value
}

// parse parses one JSON value. A lone surrogate becomes U+FFFD: programs cut strings in
// two, and a session whose history holds one must be able to continue. Invalid UTF-8, which
// no JSON encoder writes, is an error.
func parse(text []byte, bounds Bodies) (*tree, *Violation) {
	if at := invalidUTF8(text); at >= 0 {
		return nil, &Violation{Rule: RuleSyntax, Reason: fmt.Sprintf("is not UTF-8: there is a byte %#02x at byte %d", text[at], at)}
	}
	replaceLoneSurrogates(text)
	t := &tree{text: text, nodes: make([]node, 0, min(CountValues(text), bounds.Values))}
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(bounds.repeats))
	var open []int32
	for {
		kind := d.PeekKind()
		if kind != '}' && kind != ']' && len(t.nodes) == bounds.Values {
			return nil, &Violation{Rule: RuleValues, Reason: "holds more than " + count(uint64(bounds.Values), "value")}
		}
		switch kind {
		case '{', '[', '}', ']':
			if _, err := d.ReadToken(); err != nil {
				return nil, syntaxViolation(text, d, err)
			}
			end := int32(d.InputOffset())
			if kind == '}' || kind == ']' {
				top := &t.nodes[open[len(open)-1]]
				top.end, top.next = end, int32(len(t.nodes))
				open = open[:len(open)-1]
				break
			}
			if len(open) == bounds.Depth {
				return nil, &Violation{Pointer: pointerTokens(d.StackPointer()), Rule: RuleDepth, Reason: "is nested too deep"}
			}
			open = append(open, int32(len(t.nodes)))
			t.nodes = append(t.nodes, node{kind: kind, start: end - 1})
		default:
			value, err := d.ReadValue()
			if err != nil {
				return nil, syntaxViolation(text, d, err)
			}
			end := int32(d.InputOffset())
			t.nodes = append(t.nodes, node{kind: kind, start: end - int32(len(value)), end: end, next: int32(len(t.nodes) + 1)})
		}
		if len(open) == 0 {
			break
		}
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, &Violation{Rule: RuleSyntax, Reason: "has text after its JSON value"}
	}
	return t, nil
}

func syntaxViolation(text []byte, d *jsontext.Decoder, err error) *Violation {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		v := &Violation{Rule: RuleDuplicate, Reason: "appears twice"}
		if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			v.Pointer = pointerTokens(e.JSONPointer)
		}
		return v
	}
	if errors.Is(err, io.EOF) {
		return &Violation{Rule: RuleSyntax, Reason: "is empty"}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &Violation{Rule: RuleSyntax, Reason: "ends too early"}
	}
	v := &Violation{Pointer: pointerTokens(d.StackPointer()), Rule: RuleSyntax, Reason: "is not valid JSON"}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		v.Pointer = pointerTokens(e.JSONPointer)
		v.Reason += fmt.Sprintf(" at byte %d", e.ByteOffset)
		if endsInComma(text[e.ByteOffset:]) {
			v.Reason = fmt.Sprintf("has a trailing comma at byte %d", e.ByteOffset)
		}
	}
	return v
}

// endsInComma reports whether a text begins with a trailing comma.
func endsInComma(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte(","))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return ok && len(rest) > 0 && (rest[0] == '}' || rest[0] == ']')
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func pointerTokens(p jsontext.Pointer) []string {
	return slices.Collect(p.Tokens())
}

func (t *tree) raw(i int32) []byte { return t.text[t.nodes[i].start:t.nodes[i].end] }

// str returns the text of a string node, without a copy if it has no escapes.
func (t *tree) str(i int32) []byte {
	raw := t.raw(i)
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // parse has accepted it; bad Unicode is U+FFFD by now
	return text
}

// member returns the node of a field's value, or -1.
func (t *tree) member(object int32, name string) int32 {
	for i := object + 1; i < t.nodes[object].next; i = t.nodes[i+1].next {
		if string(t.str(i)) == name {
			return i + 1
		}
	}
	return -1
}

// render writes the value with all edits.
func (t *tree) render(dst []byte, i int32) []byte {
	n := &t.nodes[i]
	if n.integer {
		digits, _ := plainInteger(string(t.raw(i))) // which the check has found to be whole
		return append(dst, digits...)
	}
	if text, ok := t.replaced[i]; ok {
		return append(dst, text...)
	}
	if n.kind != '{' && n.kind != '[' {
		return append(dst, t.raw(i)...)
	}
	dst = append(dst, byte(n.kind))
	first := true
	for child := i + 1; child < n.next; child = t.nodes[child].next {
		value := child
		if n.kind == '{' {
			value = child + 1
		}
		if !t.nodes[value].dropped {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			if n.kind == '{' {
				dst = append(append(dst, t.raw(child)...), ':')
			}
			dst = t.render(dst, value)
		}
		child = value
	}
	if n.kind == '{' {
		return append(dst, '}')
	}
	return append(dst, ']')
}
