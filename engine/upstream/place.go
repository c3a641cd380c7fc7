package upstream

import (
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
)

// promptFields is the field that is too long if the server does not name one.
var promptFields = map[string]engine.Field{
	chatCompletions: engine.FieldMessages,
	completions:     engine.FieldPrompt,
	embeddings:      engine.FieldInput,
	images:          engine.FieldPrompt,
}

// fields maps fields of the style to those of neutral requests.
var fields = map[string]engine.Field{
	"model":                 engine.FieldModel,
	"messages":              engine.FieldMessages,
	"tools":                 engine.FieldTools,
	"tool_choice":           engine.FieldToolChoice,
	"response_format":       engine.FieldFormat,
	"logit_bias":            engine.FieldLogitBias,
	"max_tokens":            engine.FieldMaxTokens,
	"max_completion_tokens": engine.FieldMaxTokens,
	"prompt":                engine.FieldPrompt,
	"suffix":                engine.FieldSuffix,
	"input":                 engine.FieldInput,
	"dimensions":            engine.FieldDimensions,
	"size":                  engine.FieldSize,
}

// schemas is the path from a field to its JSON schema.
var schemas = map[engine.Field][]string{
	engine.FieldTools:  {"function", "parameters"},
	engine.FieldFormat: {"json_schema", "schema"},
}

// place parses a path in the style's notation, such as input[1] or
// tools[0].function.parameters.properties.a; zero if neutral requests have no
// such field.
func place(param string) engine.Place {
	steps := strings.Split(param, ".")
	name, index := step(steps[0])
	p := engine.Place{Field: fields[name], Index: index}
	below := schemas[p.Field]
	if len(steps) > len(below) && len(below) > 0 && slices.Equal(steps[1:1+len(below)], below) {
		p.Path = pointer(steps[1+len(below):])
	}
	return p
}

// step parses name[index].
func step(s string) (name string, index int) {
	name, rest, _ := strings.Cut(s, "[")
	index, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	if err != nil || index < 0 {
		return name, 0
	}
	return name, index
}

func pointer(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s))
	}
	return b.String()
}

// readIgnored parses the Diglot-Ignored header of another diglot: paths in tool
// schemas, and optional fields, except those that only this package asked for.
func readIgnored(header string, sent *body) (places []engine.Place, ignored []string) {
	for name := range strings.SplitSeq(header, ",") {
		name = strings.TrimSpace(name)
		if p := place(name); p.Field == engine.FieldTools && p.Path != "" && p.Index < len(sent.tools) {
			p.Index = sent.tools[p.Index]
			places = append(places, p)
		} else if field := requestedName(name); field != "" && sent.has(name) && !slices.Contains(ignored, field) {
			ignored = append(ignored, field)
		}
	}
	return places, ignored
}
