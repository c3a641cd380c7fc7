package main

import (
	_ "embed"
	"strings"
	"text/template"

	"github.com/diglot/diglot/tools/internal/comparison"
)

//go:embed report.md.tmpl
var templateText string

var pageTemplate = template.Must(template.New("report.md").
	Funcs(template.FuncMap{"code": comparison.Code, "cell": comparison.Cell}).Parse(templateText))

// row is what differs in an operation in the same way for the same reason.
type row struct{ Part, Fields, Kind, Reason string }

// Known groups what has a reason.
func (o operation) Known() []row {
	groups := map[row][]string{}
	var order []row
	for _, f := range o.Found {
		if f.Reason == "" {
			continue
		}
		key := row{Part: f.Part, Kind: f.Kind, Reason: f.Reason}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], comparison.Code(f.Field))
	}
	for i, key := range order {
		order[i].Fields = strings.Join(groups[key], ", ")
	}
	return order
}
