package value

import (
	"slices"
	"strconv"
	"strings"
)

// hints are the schemas that may describe a value: one, with those that it refers to, is
// made of, or offers as alternatives. They lead the writer and bind it to nothing.
type hints struct {
	root  *node
	nodes []*node
}

// maxHints limits the schemas that describe one value.
const maxHints = 64

// hintsOf collects the hints of schemas.
func hintsOf(root *node, schemas ...*node) hints {
	h := hints{root: root}
	for _, s := range schemas {
		h.add(s)
	}
	return h
}

func (h *hints) add(n *node) {
	if n == nil || n.kind != '{' || len(h.nodes) >= maxHints || slices.Contains(h.nodes, n) {
		return
	}
	h.nodes = append(h.nodes, n)
	h.add(h.target(n.get("$ref").text()))
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list := n.get(keyword); list != nil {
			for _, item := range list.items {
				h.add(item)
			}
		}
	}
	for _, keyword := range []string{"if", "then", "else"} {
		h.add(n.get(keyword))
	}
}

// target returns the schema that a reference names within the same schema.
func (h *hints) target(ref string) *node {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	n := h.root
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if token == "" || n == nil {
			return n
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if i, err := strconv.Atoi(token); err == nil && n.kind == '[' {
			if i < 0 || i >= len(n.items) {
				return nil
			}
			n = n.items[i]
			continue
		}
		n = n.get(token)
	}
	return n
}

// properties names the properties, in order.
func (h hints) properties() []string {
	var names []string
	seen := map[string]bool{}
	for _, n := range h.nodes {
		if named := n.get("properties"); named != nil {
			for _, name := range named.names {
				if !seen[name] {
					seen[name] = true
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// requires reports whether a property must be there, as far as the hints tell.
func (h hints) requires(name string) bool {
	for _, n := range h.nodes {
		if list := n.get("required"); list != nil && slices.ContainsFunc(list.items, func(i *node) bool { return i.text() == name }) {
			return true
		}
	}
	return false
}

// property is the hints of a property.
func (h hints) property(name string) hints {
	var all []*node
	for _, n := range h.nodes {
		all = append(all, n.get("properties").get(name))
	}
	if slices.ContainsFunc(all, func(n *node) bool { return n != nil }) {
		return hintsOf(h.root, all...)
	}
	return h.each("additionalProperties")
}

// item is the hints of an item of an array.
func (h hints) item(i int) hints {
	var all []*node
	for _, n := range h.nodes {
		list := n.get("prefixItems")
		if items := n.get("items"); items != nil && items.kind == '[' { // as before draft 2020-12
			list = items
		}
		switch {
		case list != nil && i < len(list.items):
			all = append(all, list.items[i])
		default:
			all = append(all, n.get("items"), n.get("additionalItems"))
		}
		all = append(all, n.get("contains"))
	}
	return hintsOf(h.root, all...)
}

// each is the hints of the values of one keyword.
func (h hints) each(keyword string) hints {
	var all []*node
	for _, n := range h.nodes {
		all = append(all, n.get(keyword))
	}
	return hintsOf(h.root, all...)
}

// constants are values that the schema itself has, as JSON.
func (h hints) constants() []string {
	var all []string
	for _, n := range h.nodes {
		for _, keyword := range []string{"const", "example", "default"} {
			if value := n.get(keyword); value != nil && value.raw != nil {
				all = append(all, string(value.raw))
			}
		}
		for _, keyword := range []string{"enum", "examples"} {
			if list := n.get(keyword); list != nil {
				for _, item := range list.items {
					if item.raw != nil {
						all = append(all, string(item.raw))
					}
				}
			}
		}
	}
	return all
}

// most returns the largest number of a keyword, or fallback.
func (h hints) most(keyword string, fallback float64) float64 { return h.bound(keyword, fallback, 1) }

// least returns the smallest number of a keyword, or fallback.
func (h hints) least(keyword string, fallback float64) float64 { return h.bound(keyword, fallback, -1) }

func (h hints) bound(keyword string, fallback, sign float64) float64 {
	found, result := false, fallback
	for _, n := range h.nodes {
		if x, ok := n.get(keyword).number(); ok && (!found || x*sign > result*sign) {
			found, result = true, x
		}
	}
	return result
}

// said returns the strings of a keyword.
func (h hints) said(keyword string) []string {
	var all []string
	for _, n := range h.nodes {
		if s := n.get(keyword).text(); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// implied are types that keywords are about.
var implied = []struct{ keyword, kind string }{
	{"properties", "object"}, {"required", "object"}, {"additionalProperties", "object"}, {"minProperties", "object"},
	{"items", "array"}, {"prefixItems", "array"}, {"minItems", "array"}, {"contains", "array"},
	{"pattern", "string"}, {"format", "string"}, {"minLength", "string"}, {"maxLength", "string"},
	{"minimum", "number"}, {"maximum", "number"}, {"exclusiveMinimum", "number"}, {"exclusiveMaximum", "number"}, {"multipleOf", "number"},
}

// allTypes are the types of JSON, those first that a person would expect.
var allTypes = []string{"string", "integer", "boolean", "object", "array", "number", "null"}

// types are the types to try, in order: those of the schema, then the others.
func (h hints) types() []string {
	var all []string
	for _, n := range h.nodes {
		named := n.get("type")
		switch {
		case named == nil:
			for _, row := range implied {
				if n.get(row.keyword) != nil {
					all = append(all, row.kind)
				}
			}
		case named.kind == '[':
			for _, item := range named.items {
				all = append(all, item.text())
			}
		default:
			all = append(all, named.text())
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(append(all, allTypes...), func(t string) bool {
		again := seen[t]
		seen[t] = true
		return again
	})
}
