package value

import (
	"bytes"
	"encoding/json/jsontext"
	"strconv"
)

// node is a JSON value of a schema. Its members keep their order, which the grammar asks of
// objects too.
type node struct {
	raw     jsontext.Value // without white space
	kind    jsontext.Kind
	names   []string // of members, in order
	members map[string]*node
	items   []*node
}

// parse reads a schema; nil: it is none.
func parse(schema []byte) *node {
	text := jsontext.Value(bytes.Clone(schema))
	if text.Compact() != nil {
		return nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	n, err := readNode(decoder)
	if err != nil {
		return nil
	}
	return n
}

func readNode(d *jsontext.Decoder) (*node, error) {
	n := &node{kind: d.PeekKind()}
	if n.kind != '{' && n.kind != '[' {
		text, err := d.ReadValue()
		n.raw = bytes.Clone(text)
		return n, err
	}
	if n.kind == '{' {
		n.members = map[string]*node{}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		if err := n.readChild(d); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	n.raw = n.compact()
	return n, err
}

// readChild reads a member or an item. Of members with one name the last counts.
func (n *node) readChild(d *jsontext.Decoder) error {
	name := ""
	if n.members != nil {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name = token.String()
	}
	child, err := readNode(d)
	if err != nil {
		return err
	}
	if n.members == nil {
		n.items = append(n.items, child)
		return nil
	}
	if n.members[name] == nil {
		n.names = append(n.names, name)
	}
	n.members[name] = child
	return nil
}

// maxConstant limits a compound value that can be written as a constant, in bytes.
const maxConstant = 16 << 10

// compact is the text of an object or array; nil if it is long.
func (n *node) compact() jsontext.Value {
	b := []byte{byte(n.kind)}
	for i, name := range n.names {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(appendString(b, name), ": "...)
		if b = append(b, n.members[name].raw...); n.members[name].raw == nil || len(b) > maxConstant {
			return nil
		}
	}
	for i, item := range n.items {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b = append(b, item.raw...); item.raw == nil || len(b) > maxConstant {
			return nil
		}
	}
	return append(b, byte(n.kind)+2) // the closing bracket, in ASCII
}

// get returns a member, or nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	return n.members[name]
}

// text returns the string that a node is, or "".
func (n *node) text() string {
	if n == nil || n.kind != '"' {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, n.raw)
	if err != nil {
		return ""
	}
	return string(s)
}

// number returns the number that a node is.
func (n *node) number() (float64, bool) {
	if n == nil || n.kind != '0' {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(n.raw), 64)
	return x, err == nil
}

// appendString appends a JSON string in which only what must be escaped is.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // fails only for broken UTF-8, which it replaces
	return b
}
