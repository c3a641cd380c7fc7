package format

import (
	"context"
	"errors"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// tool is one of the request's tools.
type tool struct {
	name       string
	parameters []*parameter
	grammar    grammar.Node // of the arguments as JSON
}

// parameter is a property of a tool's schema.
type parameter struct {
	name     string
	isString bool // the schema allows only strings
	required bool
	kind     string         // the type in the schema if it is one, or empty
	words    []grammar.Node // the strings of an enum; none: any string
	json     grammar.Node   // of the value as JSON
}

// Tools holds the tools that may be called, by name.
type Tools map[string]*tool

// knows is the verdict on a complete tool name.
func (t Tools) knows(name string) verdict {
	if t[name] == nil {
		return no
	}
	return yes
}

// begin is the verdict on text that begins with a name, or with a part of one.
func (t Tools) begin(b []byte) verdict {
	for name := range t {
		if begins(b, name) != no {
			return perhaps
		}
	}
	return no
}

// NewTools compiles the schemas of a request's tools and returns the keywords that
// cannot be enforced.
func NewTools(ctx context.Context, tools []engine.Tool) (Tools, []engine.Place, error) {
	set := make(Tools, len(tools))
	var loose []engine.Place
	for i, t := range tools {
		made := &tool{name: t.Name, grammar: grammar.Literal("{}")}
		set[t.Name] = made
		if len(t.Parameters) == 0 {
			continue
		}
		place := engine.Place{Field: engine.FieldTools, Index: i}
		node, properties, issues, err := grammar.Properties(ctx, t.Parameters)
		if err != nil {
			return nil, nil, schemaError("The schema of the tool "+t.Name, place, err)
		}
		made.grammar, made.parameters = node, parameters(properties)
		for _, issue := range issues {
			place.Path = issue.Pointer + "/" + issue.Keyword
			loose = append(loose, place)
		}
	}
	return set, loose, nil
}

// parameters are the properties of a schema, in schema order.
func parameters(properties []grammar.Property) []*parameter {
	list := make([]*parameter, len(properties))
	for i, p := range properties {
		list[i] = &parameter{name: p.Name, isString: p.IsString, required: p.Required, kind: p.Type, json: p.Value}
		for _, word := range p.Words {
			list[i].words = append(list[i].words, grammar.Literal(word))
		}
	}
	return list
}

// compact drops the grammars, which only Constrain needs, and estimates the bytes
// that are left.
func (t Tools) compact() int {
	size := 0
	for name, made := range t {
		size += 200 + len(name)
		made.grammar = nil
		for _, p := range made.parameters {
			size += 120 + len(p.name)
			p.words, p.json = nil, nil
		}
	}
	return size
}

// only narrows the set to the named tools; no names: all.
func (t Tools) only(names []string) Tools {
	if len(names) == 0 {
		return t
	}
	named := make(Tools, len(names))
	for _, name := range names {
		named[name] = t[name] // exists: Request.Check
	}
	return named
}

// replyGrammar is the grammar of the response format; nil: free text.
func replyGrammar(ctx context.Context, f engine.Format) (grammar.Node, error) {
	switch f.Kind {
	case engine.FormatJSON:
		return grammar.JSONObject(), nil
	case engine.FormatSchema:
	default:
		return nil, nil
	}
	node, issues, err := grammar.Schema(ctx, f.Schema)
	place := engine.Place{Field: engine.FieldFormat}
	if err != nil {
		return nil, schemaError("The schema of the response format", place, err)
	}
	if len(issues) > 0 {
		place.Path = issues[0].Pointer
		return nil, engine.Errorf(engine.CodeUnsupported,
			"The schema of the response format uses the keyword %q at %q, which cannot be enforced.",
			issues[0].Keyword, issues[0].Pointer).At(place)
	}
	return node, nil
}

func schemaError(what string, place engine.Place, err error) error {
	var s *grammar.SchemaError
	if !errors.As(err, &s) {
		return engine.AsError(err)
	}
	place.Path = s.Pointer
	if s.Pointer == "" {
		return engine.Errorf(engine.CodeInvalidArgument, "%s cannot be used: %s", what, s.Reason).At(place).Because(err)
	}
	return engine.Errorf(engine.CodeInvalidArgument, "%s cannot be used, because of %q: %s", what, s.Pointer, s.Reason).At(place).Because(err)
}
