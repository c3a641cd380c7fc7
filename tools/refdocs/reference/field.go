package reference

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// Field is a field of a request, reply or event, with the fields inside it.
type Field struct {
	openapi.Row
	Label   string // what it is called within its parent
	Anchor  string // identifies it on the pages of its operation
	Range   string // which values of its type are taken; or empty
	SeeAt   string // anchor of the field that lists the same fields; or empty
	Support Support
	Fields  []*Field

	branch bool // a form of its parent's value
}

// tree nests the rows of one part by their paths. The fields of an event's data are
// inside it.
func tree(part string, rows []openapi.Row) []*Field {
	root := &Field{}
	open := []*Field{root} // the last field and those that it is inside
	used := map[string]int{}
	reply := strings.HasPrefix(part, "reply ") || strings.HasPrefix(part, "event ")
	for _, row := range rows {
		for len(open) > 1 && !inside(row, open[len(open)-1]) {
			open = open[:len(open)-1]
		}
		parent := open[len(open)-1]
		f := &Field{
			Row: row, Label: label(row, parent), Anchor: Anchor(part, row.Field),
			Range: rangeOf(row.Schema), Support: supportOf(row.Mark, reply), branch: row.Field == parent.Field,
		}
		if used[f.Anchor]++; used[f.Anchor] > 1 {
			f.Anchor = fmt.Sprintf("%s-%d", f.Anchor, used[f.Anchor])
		}
		if row.See != "" {
			f.SeeAt = Anchor(part, row.See)
		}
		parent.Fields = append(parent.Fields, f)
		open = append(open, f)
	}
	return root.Fields
}

func inside(row openapi.Row, parent *Field) bool {
	if parent.Field == "data" && strings.HasPrefix(row.Part, "event ") {
		return row.Field != "event"
	}
	rest, ok := strings.CutPrefix(row.Field, parent.Field)
	if ok && rest == "" { // a branch of what may be several things
		return !parent.branch
	}
	return ok && strings.ContainsRune(".[=", rune(rest[0]))
}

var branch = regexp.MustCompile(`^\[(\w+)=(.+)\]$`)

// label is a field's name within its parent: content, role = user, = "stop".
func label(row openapi.Row, parent *Field) string {
	rest, ok := strings.CutPrefix(row.Field, parent.Field)
	switch {
	case !ok:
		return row.Field
	case rest == "":
		return "as " + row.Type
	case rest[0] == '=':
		return "= " + row.Type
	}
	if found := branch.FindStringSubmatch(rest); found != nil {
		return found[1] + " = " + found[2]
	}
	return strings.TrimPrefix(strings.TrimPrefix(rest, "[]"), ".")
}

var notInAnchors = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// Anchor identifies a field on the pages of its operation.
func Anchor(part, field string) string {
	return strings.Trim(notInAnchors.ReplaceAllString(part+"-"+field, "-"), "-")
}
