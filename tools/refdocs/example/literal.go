package example

import (
	"bytes"
	"encoding/json/jsontext"
	"io"
	"slices"
	"strings"
)

// node is a JSON value whose fields keep their order.
type node struct {
	kind   jsontext.Kind
	text   string // of a scalar, as JSON
	names  []string
	values []node // of an array, or of the fields in names
}

func (n node) field(name string) node {
	if i := slices.Index(n.names, name); i >= 0 {
		return n.values[i]
	}
	return node{}
}

// spreading puts fields into a spread object, which TypeScript does not hold to the type.
func (n node) spreading(fields []string) node {
	n.names, n.values = slices.Clone(n.names), slices.Clone(n.values)
	for i, name := range n.names {
		if slices.Contains(fields, name) {
			n.values[i] = node{kind: jsontext.KindBeginObject, names: []string{name}, values: []node{n.values[i]}}
			n.names[i] = spread
		}
	}
	return n
}

// spread is the name of a field that stands for those of its value.
const spread = "..."

func parse(text []byte) (node, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	n, err := read(d)
	if err == nil {
		if _, err = d.ReadToken(); err == io.EOF {
			err = nil
		}
	}
	return n, err
}

func read(d *jsontext.Decoder) (node, error) {
	n := node{kind: d.PeekKind()}
	if n.kind != jsontext.KindBeginObject && n.kind != jsontext.KindBeginArray {
		value, err := d.ReadValue()
		n.text = string(value)
		return n, err
	}
	if _, err := d.ReadToken(); err != nil {
		return n, err
	}
	for end := closing(n.kind); d.PeekKind() != end; {
		if n.kind == jsontext.KindBeginObject {
			name, err := d.ReadToken()
			if err != nil {
				return n, err
			}
			n.names = append(n.names, name.String())
		}
		value, err := read(d)
		if err != nil {
			return n, err
		}
		n.values = append(n.values, value)
	}
	_, err := d.ReadToken()
	n.sort()
	return n, err
}

func closing(open jsontext.Kind) jsontext.Kind {
	if open == jsontext.KindBeginObject {
		return jsontext.KindEndObject
	}
	return jsontext.KindEndArray
}

// leading are the fields that people write first. SDKs sort theirs as they like.
var leading = []string{"model", "max_tokens", "role", "type", "id", "name", "description", "messages", "input", "prompt"}

func (n *node) sort() {
	order := make([]int, len(n.names))
	for i := range order {
		order[i] = i
	}
	place := func(i int) int {
		if at := slices.Index(leading, n.names[i]); at >= 0 {
			return at
		}
		return len(leading)
	}
	slices.SortStableFunc(order, func(a, b int) int { return place(a) - place(b) })
	names, values := slices.Clone(n.names), slices.Clone(n.values)
	for to, from := range order {
		if len(n.names) > 0 {
			n.names[to], n.values[to] = names[from], values[from]
		}
	}
}

// dialect is how a language writes the values of JSON.
type dialect struct {
	indent            string
	null, yes, no     string
	key               func(name string) string
	trailing, padding bool // a comma after the last line; blanks inside braces
}

func quoted(name string) string {
	text, _ := jsontext.AppendQuote(nil, name) // of a recording, which is Unicode
	return string(text)
}

var (
	jsonDialect   = dialect{indent: "  ", null: "null", yes: "true", no: "false", key: func(n string) string { return quoted(n) + ": " }}
	pythonDialect = dialect{indent: "    ", null: "None", yes: "True", no: "False", trailing: true,
		key: func(n string) string { return quoted(n) + ": " }}
	typescriptDialect = dialect{indent: "  ", null: "null", yes: "true", no: "false", trailing: true, padding: true,
		key: typescriptKey}
)

func typescriptKey(name string) string {
	if name == spread {
		return spread
	}
	return name + ": "
}

// maxLine is how long a line of an example gets.
const maxLine = 88

// write writes a value that begins in a column. It is one line if it fits.
func (d dialect) write(n node, depth, column int) string {
	if line := d.line(n); column+len(line) <= maxLine || len(n.values) == 0 {
		return line
	}
	var b strings.Builder
	inner := strings.Repeat(d.indent, depth+1)
	b.WriteByte(byte(n.kind))
	for i, value := range n.values {
		key := ""
		if len(n.names) > 0 {
			key = d.key(n.names[i])
		}
		b.WriteString("\n" + inner + key + d.write(value, depth+1, len(inner)+len(key)+1))
		if d.trailing || i < len(n.values)-1 {
			b.WriteByte(',')
		}
	}
	b.WriteString("\n" + strings.Repeat(d.indent, depth))
	b.WriteByte(byte(closing(n.kind)))
	return b.String()
}

func (d dialect) line(n node) string {
	switch n.kind {
	case jsontext.KindNull:
		return d.null
	case jsontext.KindTrue:
		return d.yes
	case jsontext.KindFalse:
		return d.no
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
	default:
		return n.text
	}
	var parts []string
	for i, value := range n.values {
		key := ""
		if len(n.names) > 0 {
			key = d.key(n.names[i])
		}
		parts = append(parts, key+d.line(value))
	}
	text := strings.Join(parts, ", ")
	if d.padding && n.kind == jsontext.KindBeginObject && text != "" {
		text = " " + text + " "
	}
	return string(rune(n.kind)) + text + string(rune(closing(n.kind)))
}
