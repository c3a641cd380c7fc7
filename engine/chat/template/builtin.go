package template

import "embed"

// templates are ours: the smallest that show what an output format needs. The
// script engine renders with them, and so do models that carry no template.
//
//go:embed builtin/*.jinja
var templates embed.FS

// builtinTemplate is the template of an output format. A format that has none
// gets the plain one.
func builtinTemplate(format string) string {
	source, err := templates.ReadFile("builtin/" + format + ".jinja")
	if err != nil {
		source, _ = templates.ReadFile("builtin/plain.jinja") // embedded: it is there
	}
	return string(source)
}
