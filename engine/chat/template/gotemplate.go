package template

import (
	"text/template"
	"time"
)

// A template of the other kind is Go's own text/template, as Ollama's
// definition files have it: either one exchange (.System, .Prompt, .Response)
// that is repeated for a conversation, or all of it (.Messages, .Tools). The
// library knows the language; execution is ours, because the library collects
// exchanges in memory that nothing bounds, sorts the members of a client's
// JSON and leaves out the keywords of a schema that it has no field for.

// goTemplate is such a template, compiled.
type goTemplate struct {
	compiled *template.Template
	now      func() time.Time
	whole    bool // it shows a conversation, not one exchange
	infills  bool // it knows of a gap
	apart    bool // it shows either the text of a turn or its calls
	// Whether what a template does with these is print them: then they can be
	// the text that they came as. A map, which it may look into, is sorted.
	printsArguments, printsProperties bool
}
