// Package export writes the documents as a running server is.
//
// The documents of package openapi say two things at once: what an API style has, and, in
// support marks, what this server does with it. Tools know the first and not the second: a
// generator makes a client with fields that the server refuses, and a fuzzer calls each such
// 400 a bug. An export is the same document with the marks applied, so that its schemas
// alone tell the truth:
//
//   - what is refused in a request can only be null; refused forms of a union, values of an
//     enum and operations are left out
//   - what is partial is narrowed by its limit, and what is ignored may be anything
//   - a field that is not required may be null, which counts as absent
//   - replies go without what the profile withholds
//
// A component that requests and replies share becomes two where these rules make them
// differ, with -Input and -Output behind its name. The marks stay, for tools that know them.
//
// An export is OpenAPI 3.2, as the documents are, or 3.1, which more tools read.
package export

import (
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/openapi"
)

// Version is a version of OpenAPI.
type Version string

// The versions that an export can have.
const (
	Version32 Version = "3.2.0"
	Version31 Version = "3.1.1"
)

// Options say how a server differs from the document.
type Options struct {
	Version Version // zero: Version32
	Keys    bool    // the server checks API keys
}

// Export is an exported document.
type Export struct{ root *yaml.Node }

// New exports a document as its profile makes it.
func New(d *openapi.Document, options Options) (*Export, error) {
	var source yaml.Node
	if err := yaml.Unmarshal(d.Source(), &source); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	e := &exporter{document: d, source: plain(source.Content[0]), components: map[component]*yaml.Node{}, used: map[string]bool{}}
	root, err := e.export(options)
	if err != nil {
		return nil, fmt.Errorf("openapi: export: %w", err)
	}
	return &Export{root}, nil
}

// exporter exports one document.
type exporter struct {
	document   *openapi.Document
	source     *yaml.Node // as it was written, without aliases
	components map[component]*yaml.Node
	open       []component     // to be exported yet
	used       map[string]bool // other components, by the end of their reference
}

func (e *exporter) export(options Options) (*yaml.Node, error) {
	root := clone(e.source)
	info := get(root, "info")
	set(info, "description", text(get(info, "description").Value+e.preface()))
	set(root, "servers", list(object("url", text("/"), "description", text("This server."))))
	if options.Keys {
		e.requireKeys(root)
	}
	if err := e.paths(get(root, "paths")); err != nil {
		return nil, err
	}
	all := get(root, "components")
	if err := e.responses(all); err != nil {
		return nil, err
	}
	schemas, err := e.schemas()
	if err != nil {
		return nil, err
	}
	rename(root, schemas.names)
	set(all, "schemas", schemas.node)
	set(root, "openapi", text(string(Version32)))
	if options.Version == Version31 {
		downgrade(root)
	}
	return root, nil
}

// preface ends the description of the document.
func (e *exporter) preface() string {
	return fmt.Sprintf(`
**This export** is the document as the server of the profile %q is: what is refused can only be null or is left out, what is
partial is narrowed, what is ignored may be anything, and replies go without what they never hold.
`, string(e.document.Profile))
}

// requireKeys removes the way in without a key.
func (e *exporter) requireKeys(root *yaml.Node) {
	security := get(root, "security")
	security.Content = slices.DeleteFunc(security.Content, func(n *yaml.Node) bool { return len(n.Content) == 0 })
}

var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

func (e *exporter) paths(paths *yaml.Node) error {
	for path, item := range members(paths) {
		for method, operation := range members(item) {
			if !slices.Contains(methods, method) {
				continue
			}
			mark, err := e.mark(operation)
			if err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			if mark.Server == openapi.SupportRefused {
				remove(item, method)
				continue
			}
			if err := e.operation(operation); err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
		}
		if len(item.Content) == 0 {
			remove(paths, path)
		}
	}
	return nil
}

func (e *exporter) operation(operation *yaml.Node) error {
	for _, p := range items(get(operation, "parameters")) {
		if err := e.parameter(p); err != nil {
			return err
		}
	}
	for _, media := range members(get(get(operation, "requestBody"), "content")) {
		if err := e.media(media, request); err != nil {
			return err
		}
		if err := e.examples(get(operation, "operationId").Value, get(media, "examples")); err != nil {
			return err
		}
	}
	for _, response := range members(get(operation, "responses")) {
		if err := e.response(response); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) parameter(p *yaml.Node) error {
	mark, err := e.mark(p)
	if err != nil {
		return err
	}
	schema := get(p, "schema")
	switch mark.Server {
	case openapi.SupportRefused:
		schema = object("not", object())
	case openapi.SupportIgnored:
		schema = object()
	default:
		if schema, err = e.use(schema, request); err == nil && mark.Only != nil {
			schema, err = limit(schema, mark)
		}
	}
	set(p, "schema", schema)
	return err
}

// response exports a response where it stands, or notes the one that it refers to.
func (e *exporter) response(response *yaml.Node) error {
	if ref := get(response, "$ref"); ref != nil {
		e.used[strings.TrimPrefix(ref.Value, componentPath)] = true
		return nil
	}
	for _, header := range members(get(response, "headers")) {
		if ref := get(header, "$ref"); ref != nil {
			e.used[strings.TrimPrefix(ref.Value, componentPath)] = true
			continue
		}
		if err := e.parameter(header); err != nil {
			return err
		}
	}
	for _, media := range members(get(response, "content")) {
		if err := e.media(media, reply); err != nil {
			return err
		}
	}
	return nil
}

// responses exports the components that are no schemas, and leaves out those that only
// refused operations use.
func (e *exporter) responses(components *yaml.Node) error {
	for _, kind := range []string{"responses", "headers"} {
		for name, node := range members(get(components, kind)) {
			if !e.used[kind+"/"+name] {
				remove(get(components, kind), name)
				continue
			}
			export := e.response
			if kind == "headers" {
				export = e.parameter
			}
			if err := export(node); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func (e *exporter) media(media *yaml.Node, p purpose) error {
	for _, key := range []string{"schema", "itemSchema"} {
		schema := get(media, key)
		if schema == nil {
			continue
		}
		exported, err := e.use(schema, p)
		if err != nil {
			return err
		}
		set(media, key, exported)
	}
	if sequence := get(media, "x-event-sequence"); sequence != nil {
		set(media, "x-event-sequence", text(e.stream(sequence.Value)))
	}
	return nil
}

// stream returns an order of events without those that the profile withholds.
func (e *exporter) stream(written string) string {
	for _, o := range e.document.Operations() {
		for _, r := range o.Replies {
			if r.Stream != nil && r.Stream.Written == written {
				return r.Stream.Sequence
			}
		}
	}
	return written
}

// examples keeps those that the profile serves.
func (e *exporter) examples(operation string, examples *yaml.Node) error {
	o, ok := e.document.Operation(operation)
	if !ok {
		return fmt.Errorf("there is no operation %s", operation)
	}
	for name, example := range members(examples) {
		var value any
		if err := get(example, "value").Decode(&value); err != nil {
			return fmt.Errorf("example %s: %w", name, err)
		}
		body, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("example %s: %w", name, err)
		}
		if _, v := o.Check(body); v != nil {
			remove(examples, name)
		}
	}
	return nil
}
