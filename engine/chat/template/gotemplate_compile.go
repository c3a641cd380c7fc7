package template

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"
	"time"

	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
	ollama "github.com/ollama/ollama/template"
)

// goAction is an action that reads a field, which Go templates write with a dot
// and a capital.
var goAction = regexp.MustCompile(`\{\{[^}]*[\s({$]\.[A-Z]|\{\{\.[A-Z]`)

// jinjaStatement needs a word after "{%", which the text of a Go template hardly
// ever has.
var jinjaStatement = regexp.MustCompile(`\{%[-+]?\s*[a-z]+[\s%-]`)

// isGoTemplate reports whether a source is a Go template and not Jinja, which has
// {% %} and names without a leading dot.
func isGoTemplate(source string) bool {
	return !jinjaStatement.MatchString(source) && goAction.MatchString(source)
}

// compileGo compiles a Go template, not yet probed.
func compileGo(source string, model Model, now func() time.Time) (*Template, error) {
	parsed, err := parseGo(source)
	if err != nil {
		return nil, fmt.Errorf("compile the chat template, which is a Go template: %w", err)
	}
	fields, err := parsed.Vars()
	if err != nil {
		return nil, fmt.Errorf("read the chat template, which is a Go template: %w", err)
	}
	g := &goTemplate{
		compiled:     parsed.Template.Funcs(goFunctions(now, nil)),
		now:          now,
		usesMessages: slices.Contains(fields, "messages"),
		hasFIM:       slices.Contains(fields, "suffix"),
	}
	methods := goMethods()
	arguments, properties := fieldUse{name: "Arguments"}, fieldUse{name: "Properties"}
	special := control.NewTokens(model.Control)
	encodeTexts(special, g.walk)
	special.Finish(false)
	for _, part := range g.compiled.Templates() {
		if part.Tree == nil || part.Root == nil {
			continue
		}
		walkTemplate(part.Root, func(n parse.Node) {
			arguments.add(n)
			properties.add(n)
		})
		countMethods(part.Root, methods)
		guardTemplate(part.Root)
	}
	g.printsArguments, g.printsProperties = arguments.onlyPrinted(), properties.onlyPrinted()
	return &Template{
		model:   model,
		golang:  g,
		special: special,
		now:     now,
		bounds:  bounds.New(),
	}, nil
}

// parseGo parses a source. Ollama's package panics on some.
func parseGo(source string) (parsed *ollama.Template, err error) {
	if nestsDeeply(source) {
		return nil, fmt.Errorf("actions are more than %d deep inside each other", maxActions)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser panicked: %v", p)
		}
	}()
	return ollama.Parse(strings.ReplaceAll(source, "\r\n", "\n"))
}

// walk visits all nodes.
func (g *goTemplate) walk(visit func(parse.Node)) {
	for _, part := range g.compiled.Templates() {
		if part.Tree != nil && part.Root != nil {
			walkTemplate(part.Root, visit)
		}
	}
}
