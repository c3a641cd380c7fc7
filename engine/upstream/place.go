package upstream

import (
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
)

// promptFields says which part of a request is too long where the server
// does not.
var promptFields = map[string]engine.Field{
	chatCompletions: engine.FieldMessages,
	completions:     engine.FieldPrompt,
	embeddings:      engine.FieldInput,
	images:          engine.FieldPrompt,
}

// fields are the members of the wire style that neutral requests have too.
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

// schemas is where, below a member, its JSON schema is.
var schemas = map[engine.Field][]string{
	engine.FieldTools:  {"function", "parameters"},
	engine.FieldFormat: {"json_schema", "schema"},
}

// place reads a parameter as the wire style writes it, such as input[1] or
// tools[0].function.parameters.properties.a; zero where neutral requests have
// no such part.
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

// step reads name[index].
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

// readIgnored reads the header in which a diglot names what has no effect:
// parts of tool schemas, and members that were sent because they might have
// one. Members that only this package wanted are left out.
func readIgnored(header string, sent *body) (places []engine.Place, ignored []string) {
	for name := range strings.SplitSeq(header, ",") {
		name = strings.TrimSpace(name)
		if p := place(name); p.Field == engine.FieldTools && p.Path != "" && p.Index < len(sent.tools) {
			p.Index = sent.tools[p.Index]
			places = append(places, p)
		} else if field := wanted(name); field != "" && sent.has(name) && !slices.Contains(ignored, field) {
			ignored = append(ignored, field)
		}
	}
	return places, ignored
}
