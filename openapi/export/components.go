package export

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// component is one of the schemas that a named schema of the document becomes.
type component struct {
	name    string
	purpose purpose
	form    form
}

// form says what of a component is exported.
type form struct {
	written bool // without its own mark, which its place replaces

	// A member of a union that the discriminator alone selects.
	property string // the discriminator
	values   string // separated by blanks
	others   bool   // selected by all other values
	free     bool   // ignored: its other fields may be anything
}

var (
	asWritten = form{written: true}
	asMarked  = form{}
)

// component returns a provisional reference to a component, which will be exported too.
func (e *exporter) component(ref string, p purpose, f form) *yaml.Node {
	c := component{strings.TrimPrefix(ref, schemaPath), p, f}
	if _, ok := e.components[c]; !ok {
		e.components[c] = nil
		e.open = append(e.open, c)
	}
	return text(c.provisional())
}

func (c component) provisional() string { return fmt.Sprintf("%s%s\x00%v", schemaPath, c.name, c) }

// schemas are the exported components, and their final references by the provisional ones.
type schemas struct {
	node  *yaml.Node
	names map[string]string
}

// schemas exports the components that are in use, and all that those use.
func (e *exporter) schemas() (schemas, error) {
	written := get(get(e.source, "components"), "schemas")
	for len(e.open) > 0 {
		c := e.open[0]
		e.open = e.open[1:]
		schema := get(written, c.name)
		if schema == nil {
			return schemas{}, fmt.Errorf("there is no component %s", c.name)
		}
		node, err := e.exportComponent(schema, c)
		if err != nil {
			return schemas{}, fmt.Errorf("%s: %w", c.name, err)
		}
		e.components[c] = node
	}
	out := schemas{object(), map[string]string{}}
	classes, err := e.classes()
	if err != nil {
		return schemas{}, err
	}
	for name := range members(written) {
		e.addVariants(&out, e.variants(name), classes)
	}
	for _, node := range members(out.node) {
		rename(node, out.names)
	}
	return out, nil
}

// addVariants adds what one schema became, once for variants that are alike.
func (e *exporter) addVariants(out *schemas, variants []component, classes map[string]string) {
	first := map[string]string{} // final names by class
	alike := true
	for _, c := range variants {
		alike = alike && classes[c.provisional()] == classes[variants[0].provisional()]
	}
	for _, c := range variants {
		class := classes[c.provisional()]
		if first[class] == "" {
			name := c.name
			if !alike {
				name += string(c.purpose)
			}
			for n := 2; get(out.node, name) != nil; n++ {
				name = fmt.Sprintf("%s%s-%d", c.name, c.purpose, n)
			}
			first[class] = name
			set(out.node, name, e.components[c])
		}
		out.names[c.provisional()] = schemaPath + first[class]
	}
}

// classes groups variants that are alike, also in what they refer to: at first all of a
// schema are taken to be, until their contents tell otherwise.
func (e *exporter) classes() (map[string]string, error) {
	class := map[string]string{}
	for c := range e.components {
		class[c.provisional()] = c.name
	}
	for before, count := 0, 1; before != count; {
		finer, seen := map[string]string{}, map[string]bool{}
		for c, node := range e.components {
			content := clone(node)
			rename(content, class)
			text, err := yaml.Marshal(content)
			if err != nil {
				return nil, err
			}
			key := sha256.Sum256([]byte(class[c.provisional()] + "\x00" + string(text)))
			finer[c.provisional()] = string(key[:])
			seen[string(key[:])] = true
		}
		class, before, count = finer, count, len(seen)
	}
	return class, nil
}

// rename replaces the texts of a tree that are names.
func rename(n *yaml.Node, names map[string]string) {
	if name, ok := names[n.Value]; ok && n.Kind == yaml.ScalarNode {
		n.SetString(name)
	}
	for _, child := range n.Content {
		rename(child, names)
	}
}

func (e *exporter) exportComponent(schema *yaml.Node, c component) (*yaml.Node, error) {
	if c.form.property != "" {
		return e.selected(schema, c.form)
	}
	node, err := e.schema(schema, c.purpose, c.form)
	if err != nil || c.form.written || c.purpose == reply {
		return node, err
	}
	mark, err := e.mark(schema)
	if err == nil && mark.Only != nil {
		return limit(node, mark)
	}
	return node, err
}

// variants lists what a schema became, in a fixed order.
func (e *exporter) variants(name string) []component {
	var all []component
	for c := range e.components {
		if c.name == name {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.provisional(), b.provisional()) })
	return all
}
