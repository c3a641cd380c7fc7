package main

import (
	_ "embed"
	"slices"
	"strings"
	"text/template"
)

//go:embed vendor.md.tmpl
var templateText string

var pageTemplate = template.Must(template.New("vendor.md").Parse(templateText))

// report is the result for all styles.
type report struct{ Styles []compared }

// tally has the counts of a report.
type tally struct{ Operations, Fields, Differences, ByMark, ByReason, Unexplained int }

// Tally returns the counts over all styles.
func (r report) Tally() tally {
	var t tally
	for _, s := range r.Styles {
		for _, o := range s.Operations {
			if o.Name != everyOperation && o.Refused == "" && !strings.Contains(o.Name, "?") {
				t.Operations++
			}
			t.Fields += o.Fields
			t.Differences += len(o.Differences)
			for _, d := range o.Differences {
				switch {
				case d.Reason == "":
					t.Unexplained++
				case d.Mark != "":
					t.ByMark++
				default:
					t.ByReason++
				}
			}
		}
	}
	return t
}

// Unexplained lists the differences without a reason.
func (r report) Unexplained() []difference {
	var all []difference
	for _, s := range r.Styles {
		for _, o := range s.Operations {
			for _, d := range o.Differences {
				if d.Reason == "" {
					all = append(all, d)
				}
			}
		}
	}
	return all
}

// row is one row of a table: differences of one kind with one reason.
type row struct{ Part, Fields, Kind, Vendor, Ours, Reason string }

// Rows groups similar differences of an operation.
func (o comparedOperation) Rows() []row {
	type key struct{ part, kind, vendor, ours, reason string }
	groups := map[key][]difference{}
	var order []key
	for _, d := range o.Differences {
		k := key{d.Part, d.Kind, d.Vendor, d.Ours, d.Reason}
		if d.Kind == kindLacks {
			k.vendor = "" // a missing field may have any type
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], d)
	}
	var rows []row
	for _, k := range order {
		var fields, types []string
		for _, d := range groups[k] {
			fields = append(fields, code(d.Field))
			if !slices.Contains(types, d.Vendor) {
				types = append(types, d.Vendor)
			}
		}
		rows = append(rows, row{k.part, strings.Join(fields, ", "), k.kind, cell(strings.Join(types, "; ")), cell(k.ours), cell(k.reason)})
	}
	return rows
}

// cell escapes text for a table cell.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func code(text string) string {
	if text == "" {
		return "all of it"
	}
	return "`" + cell(text) + "`"
}
