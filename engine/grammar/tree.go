package grammar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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

// tree is a JSON value with its members in the order of the text, which is
// the order in which a model is asked to write them.
type tree struct {
	kind    kind
	pointer string // JSON pointer from the root
	yes     bool   // of a boolean
	text    string // of a string; a number as it is written
	items   []*tree
	members []member
	place   map[string]int // of members, by name
}

type member struct {
	name  string
	value *tree
}

// maxNesting bounds the levels of a schema's JSON text. A level of schema
// takes two: one for "properties", one for the property. It is what makes
// recursion over a client's schema safe.
const maxNesting = 2 * 64

// parseTree reads one JSON value.
func parseTree(text []byte) (*tree, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	root, err := readTree(d, "", 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, &SchemaError{Reason: "The schema is followed by more text."}
	}
	return root, nil
}

func readTree(d *json.Decoder, pointer string, depth int) (*tree, error) {
	if depth > maxNesting {
		return nil, &SchemaError{pointer, fmt.Sprintf("The schema is nested deeper than %d levels of JSON.", maxNesting)}
	}
	token, err := d.Token()
	if err != nil {
		return nil, &SchemaError{pointer, "The schema is not valid JSON."}
	}
	t := &tree{pointer: pointer}
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
			return t, t.readMembers(d, depth)
		}
		t.kind = kindArray
		return t, t.readItems(d, depth)
	}
	return t, nil
}

func (t *tree) readItems(d *json.Decoder, depth int) error {
	for d.More() {
		item, err := readTree(d, t.pointer+"/"+strconv.Itoa(len(t.items)), depth+1)
		if err != nil {
			return err
		}
		t.items = append(t.items, item)
	}
	return t.end(d)
}

func (t *tree) readMembers(d *json.Decoder, depth int) error {
	t.place = map[string]int{}
	for d.More() {
		token, err := d.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return &SchemaError{t.pointer, "The schema is not valid JSON."}
		}
		value, err := readTree(d, t.pointer+"/"+pointerEscaper.Replace(name), depth+1)
		if err != nil {
			return err
		}
		if i, ok := t.place[name]; ok { // as everywhere in JSON, the last one counts
			t.members[i].value = value
			continue
		}
		t.place[name] = len(t.members)
		t.members = append(t.members, member{name, value})
	}
	return t.end(d)
}

func (t *tree) end(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return &SchemaError{t.pointer, "The schema is not valid JSON."}
	}
	return nil
}

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// get returns a member's value, or nil.
func (t *tree) get(name string) *tree {
	if i, ok := t.place[name]; ok {
		return t.members[i].value
	}
	return nil
}

// isTrue reports whether t is present and the literal true.
func (t *tree) isTrue() bool { return t != nil && t.kind == kindBool && t.yes }

// equal reports whether two values are equal as JSON Schema sees it: the
// order of members does not matter, and 1.0 is 1.
func (t *tree) equal(o *tree) bool {
	if t.kind != o.kind || t.yes != o.yes || len(t.items) != len(o.items) || len(t.members) != len(o.members) {
		return false
	}
	if t.kind == kindNumber {
		a, errA := parseDecimal(t.text)
		b, errB := parseDecimal(o.text)
		return errA == nil && errB == nil && a.compare(b) == 0
	}
	if t.text != o.text {
		return false
	}
	for i := range t.items {
		if !t.items[i].equal(o.items[i]) {
			return false
		}
	}
	for _, m := range t.members {
		if other := o.get(m.name); other == nil || !m.value.equal(other) {
			return false
		}
	}
	return true
}

// node is the JSON text of the value, printed in any usual style.
func (t *tree) node() Node {
	switch t.kind {
	case kindArray:
		var parts []Node
		for i, item := range t.items {
			if i > 0 {
				parts = append(parts, comma())
			}
			parts = append(parts, item.node(), Whitespace())
		}
		return braces('[', ']', Seq(parts...))
	case kindObject:
		var parts []Node
		for i, m := range t.members {
			if i > 0 {
				parts = append(parts, comma())
			}
			parts = append(parts, memberNode(Literal(quote(m.name)), m.value.node()))
		}
		return braces('{', '}', Seq(parts...))
	}
	return Literal(t.json())
}

// json is the JSON text of the value without white space.
func (t *tree) json() string {
	switch t.kind {
	case kindBool:
		return strconv.FormatBool(t.yes)
	case kindNumber:
		return t.text
	case kindString:
		return quote(t.text)
	case kindArray:
		list := make([]string, len(t.items))
		for i, item := range t.items {
			list[i] = item.json()
		}
		return "[" + strings.Join(list, ",") + "]"
	case kindObject:
		list := make([]string, len(t.members))
		for i, m := range t.members {
			list[i] = quote(m.name) + ":" + m.value.json()
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	return "null"
}
