package template

import "embed"

// templates are minimal templates by output format, for package script and for
// models without one.
//
//go:embed builtin/*.jinja
var templates embed.FS

// builtinTemplate is the template of an output format, or the plain one.
func builtinTemplate(format string) string {
	source, err := templates.ReadFile("builtin/" + format + ".jinja")
	if err != nil {
		source, _ = templates.ReadFile("builtin/plain.jinja") // embedded: it is there
	}
	return string(source)
}
