package grammar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// kind is the type of a JSON value.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// tree is a JSON value with its members in source order, in which a model has to write
// them.
type tree struct {
	kind    kind
	yes     bool  // of a boolean
	number  int32 // unique in the schema
	index   int32 // among the items of parent
	name    string
	parent  *tree
	text    string // of a string; a number as it is written
	items   []*tree
	members []member
	places  map[string]int // of members, by name, where there are many

	// Caches of a reader, for a schema.
	target      *tree  // of $ref, or itself; nil: not resolved yet
	constraints *shape // nil: not read yet
	mark        int    // the last set of schemas that it was added to
}

type member struct {
	name  string
	value *tree
}

// Costs of reading.
const (
	treeBytes  = 320 // a tree, its places in lists that grow, the decoder's token
	placeBytes = 120 // an entry of place
)

// fewMembers is up to where a linear search is faster than a map.
const fewMembers = 8

// maxNesting limits the nesting of a schema's JSON, so that recursion is safe. A property
// takes two levels.
const maxNesting = 2 * 64

// parser reads a schema's JSON text.
type parser struct {
	*json.Decoder
	meter *meter
	trees int32
}

// parseTree reads one JSON value.
func parseTree(m *meter, text []byte) (*tree, error) {
	m.spend(len(text)/64, 4*len(text)) // the decoder's buffer, as it grows
	p := &parser{Decoder: json.NewDecoder(bytes.NewReader(text)), meter: m}
	p.UseNumber()
	root := &tree{}
	if err := p.read(root, 0); err != nil {
		return nil, err
	}
	if _, err := p.Token(); err != io.EOF {
		return nil, &SchemaError{Reason: "The schema is followed by more text."}
	}
	return root, nil
}

func (p *parser) read(t *tree, depth int) error {
	if depth > maxNesting {
		return t.wrong(fmt.Sprintf("The schema is nested deeper than %d levels of JSON.", maxNesting))
	}
	p.meter.spend(3, treeBytes)
	t.number = p.trees
	p.trees++
	token, err := p.token()
	if err != nil {
		return t.invalid()
	}
	switch v := token.(type) {
	case bool:
		t.kind, t.yes = kindBool, v
	case json.Number:
		t.kind, t.text = kindNumber, v.String()
	case string:
		t.kind, t.text = kindString, v
	case json.Delim:
		if v == '{' {
			t.kind = kindObject
			return p.readMembers(t, depth)
		}
		t.kind = kindArray
		return p.readItems(t, depth)
	}
	return nil
}

// token counts the memory of a decoded token.
func (p *parser) token() (json.Token, error) {
	from := p.InputOffset()
	token, err := p.Token()
	p.meter.spend(0, 2*int(p.InputOffset()-from))
	return token, err
}

func (p *parser) readItems(t *tree, depth int) error {
	for p.More() {
		item := &tree{parent: t, index: int32(len(t.items))}
		if err := p.read(item, depth+1); err != nil {
			return err
		}
		t.items = append(t.items, item)
	}
	return p.end(t)
}

func (p *parser) readMembers(t *tree, depth int) error {
	for p.More() {
		token, err := p.token()
		name, ok := token.(string)
		if err != nil || !ok {
			return t.invalid()
		}
		value := &tree{parent: t, name: name}
		if err := p.read(value, depth+1); err != nil {
			return err
		}
		if i := t.find(name); i >= 0 { // the last duplicate counts
			t.members[i].value = value
			continue
		}
		t.members = append(t.members, member{name, value})
		t.indexMember(p.meter)
	}
	return p.end(t)
}

func (p *parser) end(t *tree) error {
	if _, err := p.Token(); err != nil {
		return t.invalid()
	}
	return nil
}

// find returns the index of a member, or -1.
func (t *tree) find(name string) int {
	if t.places == nil {
		return slices.IndexFunc(t.members, func(m member) bool { return m.name == name })
	}
	if i, ok := t.places[name]; ok {
		return i
	}
	return -1
}

// indexMember indexes the last member, once there are many.
func (t *tree) indexMember(m *meter) {
	n := len(t.members)
	switch {
	case n <= fewMembers:
		return
	case t.places == nil:
		m.spend(n, n*placeBytes)
		t.places = make(map[string]int, 4*fewMembers)
		for i, other := range t.members {
			t.places[other.name] = i
		}
		return
	}
	m.spend(1, placeBytes)
	t.places[t.members[n-1].name] = n - 1
}

// get returns a member's value, or nil.
func (t *tree) get(name string) *tree {
	if i := t.find(name); i >= 0 {
		return t.members[i].value
	}
	return nil
}

// isTrue reports whether t is present and the literal true.
func (t *tree) isTrue() bool { return t != nil && t.kind == kindBool && t.yes }

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// maxPointer limits the length of a pointer, as names may have megabytes.
const maxPointer = 1000

// pointer is the JSON pointer from the root, or the end of a long one.
func (t *tree) pointer() string {
	var steps []string
	size := 0
	for here := t; here.parent != nil; here = here.parent {
		step := "/" + strconv.Itoa(int(here.index))
		if here.parent.kind != kindArray {
			step = "/" + pointerEscaper.Replace(shortenName(here.name))
		}
		if size += len(step); size > maxPointer {
			steps = append(steps, "/…")
			break
		}
		steps = append(steps, step)
	}
	slices.Reverse(steps)
	return strings.Join(steps, "")
}

// shortenName truncates a long name.
func shortenName(name string) string {
	if len(name) <= maxPointer/4 {
		return name
	}
	return strings.ToValidUTF8(name[:maxPointer/4], "") + "…"
}

// wrong returns an error at t, with a reason for the client.
func (t *tree) wrong(reason string) error { return &SchemaError{Pointer: t.pointer(), Reason: reason} }

func (t *tree) invalid() error { return t.wrong("The schema is not valid JSON.") }

// node is the JSON text of the value in any usual style.
func (t *tree) node(m *meter) Node {
	m.spend(1, 360)
	switch t.kind {
	case kindArray:
		m.spend(0, 100*len(t.items))
		var parts []Node
		for i, item := range t.items {
			if i > 0 {
				parts = append(parts, comma())
			}
			parts = append(parts, item.node(m), Whitespace())
		}
		return braces('[', ']', Seq(parts...))
	case kindObject:
		m.spend(0, 300*len(t.members))
		var parts []Node
		for i, p := range t.members {
			if i > 0 {
				parts = append(parts, comma())
			}
			m.spend(0, quoteBytes*len(p.name))
			parts = append(parts, memberNode(Literal(quote(p.name)), p.value.node(m)))
		}
		return braces('{', '}', Seq(parts...))
	}
	return Literal(string(t.appendJSON(m, nil)))
}

// quoteBytes is the memory per byte for quoting.
const quoteBytes = 12

// appendJSON appends the JSON text of the value without white space.
func (t *tree) appendJSON(m *meter, b []byte) []byte {
	m.spend(1, 40+quoteBytes*len(t.text))
	switch t.kind {
	case kindBool:
		return strconv.AppendBool(b, t.yes)
	case kindNumber:
		return append(b, t.text...)
	case kindString:
		return appendQuoted(b, t.text)
	case kindArray:
		b = append(b, '[')
		for i, item := range t.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(m, b)
		}
		return append(b, ']')
	case kindObject:
		b = append(b, '{')
		for i, p := range t.members {
			if i > 0 {
				b = append(b, ',')
			}
			m.spend(0, quoteBytes*len(p.name))
			b = append(appendQuoted(b, p.name), ':')
			b = p.value.appendJSON(m, b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// identity is the same for values that are equal by JSON Schema: the order of members
// does not matter, and 1.0 equals 1. It reports false for a value that equals none.
func (t *tree) identity(m *meter, b []byte) ([]byte, bool) {
	ok := true
	switch t.kind {
	case kindNumber:
		d, err := t.decimal(m)
		if err != nil {
			return b, false
		}
		if d.negative {
			b = append(b, '-')
		}
		return append(append(append(b, d.whole...), '.'), d.fraction...), true
	case kindArray:
		b = append(b, '[')
		for i := 0; ok && i < len(t.items); i++ {
			b, ok = t.items[i].identity(m, b)
			b = append(b, ',')
		}
		return append(b, ']'), ok
	case kindObject:
		m.spend(len(t.members), 32*len(t.members))
		sorted := slices.SortedFunc(slices.Values(t.members), func(a, b member) int { return strings.Compare(a.name, b.name) })
		b = append(b, '{')
		for i := 0; ok && i < len(sorted); i++ {
			m.spend(0, quoteBytes*len(sorted[i].name))
			b = append(appendQuoted(b, sorted[i].name), ':')
			b, ok = sorted[i].value.identity(m, b)
			b = append(b, ',')
		}
		return append(b, '}'), ok
	}
	return t.appendJSON(m, b), true
}

// decimal reads a number.
func (t *tree) decimal(m *meter) (decimal, error) {
	m.spend(1, 3*len(t.text))
	if strings.ContainsAny(t.text, "eE") {
		m.spend(2, 4*maxMagnitude)
	}
	return parseDecimal(t.text)
}
