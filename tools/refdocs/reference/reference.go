// Package reference arranges the documents the way that pages show them: operations with
// their fields as trees, what each field means in both profiles, the events of a stream
// with their place in the order, errors and headers.
//
// It decides no words of a page and no markup: the Markdown and the HTML pages are both
// made from it, so that they say the same.
package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// Style is one document.
type Style struct {
	Name        string // openai or anthropic: also the folder of its pages
	Title       string
	Description string
	Operations  []Operation
	Envelope    []*Field // the body of every error
}

// Operation is one operation of a style.
type Operation struct {
	*openapi.Operation
	Style      string // its name
	StyleTitle string
	Support    Support
	Parameters []*Field
	Body       []*Field
	Replies    []Reply // those that are no errors
	Errors     []openapi.Error
	Headers    []Header
	Rows       []*Field // of the support matrix, not nested
	Tally      Tally
}

// Of arranges both documents.
func Of(documents openapi.Documents) ([]Style, error) {
	var styles []Style
	for _, s := range []struct {
		name     string
		document *openapi.Document
	}{{"openai", documents.OpenAI}, {"anthropic", documents.Anthropic}} {
		style := Style{Name: s.name, Title: s.document.Title, Description: strings.TrimSpace(s.document.Description)}
		for _, o := range s.document.Operations() {
			operation, err := operationOf(style, o)
			if err != nil {
				return nil, err
			}
			style.Operations = append(style.Operations, operation)
		}
		style.Envelope = envelopeOf(s.name, s.document)
		styles = append(styles, style)
	}
	return styles, nil
}

func operationOf(style Style, o *openapi.Operation) (Operation, error) {
	view := Operation{Operation: o, Style: style.Name, StyleTitle: style.Title, Support: supportOf(o.Mark, false), Rows: rowsOf(o)}
	parts := map[string][]*Field{}
	for part, rows := range byPart(o.Matrix()) {
		parts[part] = tree(part, rows)
	}
	for _, part := range []string{"path", "query", "header"} {
		view.Parameters = append(view.Parameters, parts[part]...)
	}
	view.Body = parts["body"]
	var err error
	if view.Replies, err = repliesOf(o, parts); err != nil {
		return view, err
	}
	view.Errors, view.Headers = errorsOf(o), headersOf(o.Replies)
	view.Tally = tallyOf(slices.Concat(view.Parameters, view.Body))
	return view, nil
}

func byPart(rows []openapi.Row) map[string][]openapi.Row {
	parts := map[string][]openapi.Row{}
	for _, row := range rows {
		parts[row.Part] = append(parts[row.Part], row)
	}
	return parts
}

// envelopeOf returns the fields of the body that the errors of a style share.
func envelopeOf(style string, d *openapi.Document) []*Field {
	for _, o := range d.Operations() {
		parts := byPart(o.Matrix())
		for _, r := range o.Replies {
			if len(r.Errors) > 0 {
				return tree(style+" error", parts[fmt.Sprintf("reply %d", r.Status)])
			}
		}
	}
	return nil
}

// errorsOf lists the errors. Codes of failed responses are kept only for operations that
// have that event.
func errorsOf(o *openapi.Operation) []openapi.Error {
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

// rowsOf lists what the support matrix of an operation shows: all fields of the request; of
// replies and events those with a mark.
func rowsOf(o *openapi.Operation) []*Field {
	var rows []*Field
	for _, row := range o.Matrix() {
		reply := strings.HasPrefix(row.Part, "reply ") || strings.HasPrefix(row.Part, "event ")
		if !reply || !row.Mark.Plain() {
			rows = append(rows, &Field{Row: row, Support: supportOf(row.Mark, reply)})
		}
	}
	return rows
}

// Error is an error of a style.
type Error struct {
	openapi.Error
	In string // the operations that have it, or all
}

// Errors lists the errors of all operations, each once.
func (s Style) Errors() []Error {
	var all []Error
	var in [][]string
	for _, o := range s.Operations {
		for _, e := range o.Errors {
			i := slices.IndexFunc(all, func(other Error) bool { return sameError(other.Error, e) })
			if i < 0 {
				i = len(all)
				all, in = append(all, Error{Error: e}), append(in, nil)
			}
			in[i] = append(in[i], o.ID)
		}
	}
	for i := range all {
		all[i].In = strings.Join(in[i], ", ")
		if len(in[i]) == len(s.Operations) {
			all[i].In = "all"
		}
	}
	slices.SortStableFunc(all, func(a, b Error) int { return a.Status - b.Status })
	return all
}

func sameError(a, b openapi.Error) bool {
	return a.Status == b.Status && a.Name == b.Name && a.Type == b.Type && a.Code == b.Code && a.Failed == b.Failed && a.When == b.When && a.Message == b.Message
}
