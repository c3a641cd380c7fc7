package main

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/diglot/diglot/openapi"
)

//go:embed *.tmpl
var templates embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"cell": cell, "code": code, "support": support,
}).ParseFS(templates, "*.tmpl"))

// document is what the templates see of a document.
type document struct {
	Title, Description string
	Operations         []operation
}

type operation struct {
	*openapi.Operation
	Parameters []openapi.Row
	Body       []openapi.Row
	Replies    []reply
	Successes  []reply // without errors, which are listed separately
	Errors     []openapi.Error
	Headers    []header
	Matrix     []openapi.Row // of the request: all; of replies: those with a mark
}

// reply is what is answered with one status. Fields that statuses share are listed once.
type reply struct {
	openapi.Reply
	Type   string
	Same   string // heading under which the fields are listed; or empty
	Rows   []openapi.Row
	Events []event
}

// header is a reply header.
type header struct {
	Name, Type, Description string
	Required                bool
	In                      string // statuses of the replies
}

type event struct {
	Name, Description, Type string
	Rows                    []openapi.Row
}

func view(d *openapi.Document) document {
	v := document{Title: d.Title, Description: strings.TrimSpace(d.Description)}
	for _, o := range d.Operations() {
		v.Operations = append(v.Operations, viewOperation(o))
	}
	return v
}

func viewOperation(o *openapi.Operation) operation {
	v := operation{Operation: o}
	byPart := map[string][]openapi.Row{}
	for _, row := range o.Matrix() {
		byPart[row.Part] = append(byPart[row.Part], row)
		isRequest := !strings.HasPrefix(row.Part, "reply ") && !strings.HasPrefix(row.Part, "event ")
		if isRequest || !row.Mark.Plain() {
			v.Matrix = append(v.Matrix, row)
		}
	}
	for _, part := range []string{"path", "query", "header"} {
		v.Parameters = append(v.Parameters, byPart[part]...)
	}
	v.Body = byPart["body"]
	listed := map[*openapi.Schema]string{}
	for _, r := range o.Replies {
		v.Replies = append(v.Replies, viewReply(r, byPart, listed))
		if len(r.Errors) == 0 {
			v.Successes = append(v.Successes, v.Replies[len(v.Replies)-1])
		}
	}
	v.Errors, v.Headers = viewErrors(o), viewHeaders(o.Replies)
	return v
}

// viewErrors lists the errors. Codes of failed responses are kept only for operations that
// have that event.
func viewErrors(o *openapi.Operation) []openapi.Error {
	fails := slices.ContainsFunc(o.Replies, func(r openapi.Reply) bool {
		return r.Stream != nil && slices.ContainsFunc(r.Stream.Events, func(e openapi.Use) bool { return e.EventName == "failed" })
	})
	errors := o.Errors()
	for i := range errors {
		if !fails {
			errors[i].Failed = ""
		}
	}
	return errors
}

// viewHeaders lists each header once for the statuses that always have it, and once for
// those that may.
func viewHeaders(replies []openapi.Reply) []header {
	statuses := map[header][]string{}
	var all []string
	for _, r := range replies {
		status := fmt.Sprint(r.Status)
		if slices.Contains(all, status) {
			continue // another media type of the same status
		}
		all = append(all, status)
		for _, h := range r.Headers {
			row := header{Name: h.Name, Type: h.Schema.TypeText(), Description: h.Description, Required: h.Required}
			statuses[row] = append(statuses[row], status)
		}
	}
	var rows []header
	for row, in := range statuses {
		row.In = strings.Join(in, ", ")
		if len(in) == len(all) {
			row.In = "all"
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b header) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.In, b.In))
	})
	return rows
}

func viewReply(in openapi.Reply, byPart map[string][]openapi.Row, listed map[*openapi.Schema]string) reply {
	r := reply{Reply: in}
	if in.Body != nil {
		r.Type = in.Body.Schema.TypeText()
		if r.Same = listed[in.Body.Schema]; r.Same == "" {
			listed[in.Body.Schema] = fmt.Sprint(in.Status)
			r.Rows = byPart[fmt.Sprintf("reply %d", in.Status)]
		}
	}
	if in.Stream == nil {
		return r
	}
	for _, e := range in.Stream.Events {
		r.Events = append(r.Events, event{
			Name: e.EventName, Description: e.Description, Type: dataType(e.Schema), Rows: byPart["event "+e.EventName],
		})
	}
	return r
}

// dataType names the type of an event's data.
func dataType(s *openapi.Schema) string {
	data, ok := s.Property("data")
	if !ok {
		return "nothing"
	}
	if data.Schema.Content != nil {
		return data.Schema.Content.Schema.TypeText()
	}
	return data.Schema.TypeText()
}

// cell makes text fit into a table cell.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func code(text string) string { return "`" + cell(text) + "`" }

// support formats a mark for a table cell.
func support(m openapi.Mark) string {
	var words []string
	if m.Server != openapi.SupportImplemented {
		words = append(words, fmt.Sprintf("*%s*", m.Server))
	}
	if m.Document != openapi.ListingSupported {
		words = append(words, string(m.Document))
	}
	text := strings.Join(words, ", ")
	if m.Note != "" {
		text += ". " + m.Note
	}
	return cell(strings.TrimPrefix(text, ". "))
}
