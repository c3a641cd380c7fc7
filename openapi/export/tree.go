package export

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"iter"
	"slices"

	"gopkg.in/yaml.v3"
)

// plain copies a tree without aliases, anchors and comments.
func plain(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return plain(n.Alias)
	}
	c := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value}
	for _, child := range n.Content {
		c.Content = append(c.Content, plain(child))
	}
	return c
}

func clone(n *yaml.Node) *yaml.Node { return plain(n) }

// object makes an object of names and nodes in turns.
func object(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i < len(pairs); i += 2 {
		set(n, pairs[i].(string), pairs[i+1].(*yaml.Node))
	}
	return n
}

func list(nodes ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: nodes}
}

func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

func texts(values []string) *yaml.Node {
	n := list()
	n.Style = yaml.FlowStyle
	for _, value := range values {
		n.Content = append(n.Content, text(value))
	}
	return n
}

func null() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

// number makes a whole number of its digits.
func number(digits string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: digits}
}

// get returns a member of an object, or nil.
func get(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func set(n *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, text(name), value)
}

func remove(n *yaml.Node, names ...string) {
	for i := 0; i < len(n.Content); {
		if slices.Contains(names, n.Content[i].Value) {
			n.Content = slices.Delete(n.Content, i, i+2)
			continue
		}
		i += 2
	}
}

// members yields a copy of an object's members, so that the object may change meanwhile.
func members(n *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		content := slices.Clone(n.Content)
		for i := 0; i < len(content); i += 2 {
			if !yield(content[i].Value, content[i+1]) {
				return
			}
		}
	}
}

func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// holds reports whether a list holds a text.
func holds(n *yaml.Node, value string) bool {
	return slices.ContainsFunc(items(n), func(item *yaml.Node) bool { return item.Value == value })
}

// YAML returns the document as YAML.
func (e *Export) YAML() ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(e.root); err != nil {
		return nil, fmt.Errorf("openapi: export: %w", err)
	}
	return b.Bytes(), encoder.Close()
}

// JSON returns the document as JSON, its members in the same order.
func (e *Export) JSON() ([]byte, error) {
	var b bytes.Buffer
	if err := writeJSON(jsontext.NewEncoder(&b, jsontext.WithIndent("  ")), e.root); err != nil {
		return nil, fmt.Errorf("openapi: export: %w", err)
	}
	return b.Bytes(), nil
}

func writeJSON(out *jsontext.Encoder, n *yaml.Node) error {
	open, end := jsontext.BeginObject, jsontext.EndObject
	switch n.Kind {
	case yaml.ScalarNode:
		return out.WriteValue(scalar(n))
	case yaml.SequenceNode:
		open, end = jsontext.BeginArray, jsontext.EndArray
	}
	if err := out.WriteToken(open); err != nil {
		return err
	}
	for i, child := range n.Content {
		var err error
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			err = out.WriteToken(jsontext.String(child.Value)) // a name, whatever YAML takes it for
		} else {
			err = writeJSON(out, child)
		}
		if err != nil {
			return err
		}
	}
	return out.WriteToken(end)
}

// scalar returns a scalar as JSON. The documents write numbers as JSON does.
func scalar(n *yaml.Node) jsontext.Value {
	switch n.ShortTag() {
	case "!!null":
		return jsontext.Value("null")
	case "!!bool", "!!int", "!!float":
		return jsontext.Value(n.Value)
	}
	quoted, _ := jsontext.AppendQuote(nil, n.Value) // bad Unicode becomes U+FFFD
	return quoted
}
