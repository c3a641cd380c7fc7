package comparison

import (
	"slices"
	"strings"
)

// Report is the result for all styles.
type Report struct{ Styles []Compared }

// Tally has the counts of a report.
type Tally struct{ Operations, Fields, Differences, ByMark, ByReason, Unexplained int }

// Tally returns the counts over all styles.
func (r Report) Tally() Tally {
	var t Tally
	for _, s := range r.Styles {
		for _, o := range s.Operations {
			if o.Name != EveryOperation && o.Refused == "" && !strings.Contains(o.Name, "?") {
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
func (r Report) Unexplained() []Difference {
	var all []Difference
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

// Row is one row of a table: differences of one kind with one reason.
type Row struct{ Part, Fields, Kind, Vendor, Ours, Reason string }

// Rows groups similar differences of an operation.
func (o Operation) Rows() []Row {
	type key struct{ part, kind, vendor, ours, reason string }
	groups := map[key][]Difference{}
	var order []key
	for _, d := range o.Differences {
		k := key{d.Part, d.Kind, d.Vendor, d.Ours, d.Reason}
		if d.Kind == Lacks {
			k.vendor = "" // a missing field may have any type
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], d)
	}
	var rows []Row
	for _, k := range order {
		var fields, types []string
		for _, d := range groups[k] {
			fields = append(fields, Code(d.Field))
			if !slices.Contains(types, d.Vendor) {
				types = append(types, d.Vendor)
			}
		}
		rows = append(rows, Row{k.part, strings.Join(fields, ", "), k.kind, Cell(strings.Join(types, "; ")), Cell(k.ours), Cell(k.reason)})
	}
	return rows
}

// Cell escapes text for a table cell.
func Cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// Code writes a field as code.
func Code(text string) string {
	if text == "" {
		return "all of it"
	}
	return "`" + Cell(text) + "`"
}
