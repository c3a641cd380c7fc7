package main

import (
	_ "embed"
	"text/template"
)

//go:embed vendor.md.tmpl
var templateText string

var pageTemplate = template.Must(template.New("vendor.md").Parse(templateText))
