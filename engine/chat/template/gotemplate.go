package template

import (
	"text/template"
	"time"
)

// Go templates are text/template as in Ollama's Modelfiles: either one exchange
// (.System, .Prompt, .Response), repeated for a conversation, or all of it
// (.Messages, .Tools). Ollama's package parses them; execution is ours, because
// Ollama's takes unlimited memory, sorts the fields of a client's JSON and drops
// schema keywords that it has no field for.

// goTemplate is a compiled Go template.
type goTemplate struct {
	compiled     *template.Template
	now          func() time.Time
	usesMessages bool // has .Messages, the whole conversation
	hasFIM       bool // uses .Suffix (fill in the middle)
	textOrCalls  bool // shows either the text of a turn or its calls
	// Whether the template only prints these: then the client's JSON is kept as it
	// is. A map, into which it could index, would be sorted.
	printsArguments, printsProperties bool
}
