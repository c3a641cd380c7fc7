package openapi

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"
)

// Row is one field of an operation, as the support matrix and the reference
// pages print it.
type Row struct {
	Part        string  // path, query, header, body, "reply 200" or "event NAME"
	Field       string  // messages[].content[type=text].text
	Type        string  // string, array of Message, "a" or "b"
	Schema      *Schema // nil for a value of an enum
	Required    bool
	Default     string // JSON; empty: none
	Mark        Mark
	Description string
	Line        int    // in the document
	See         string // path under which the same fields are listed; or empty
}

// Matrix lists the fields of the operation in declared order: parameters, body, replies and
// events. A schema that occurs several times in a part is listed once, and the fields of a
// value without effect are not listed.
func (o *Operation) Matrix() []Row {
	var rows []Row
	for _, p := range o.Parameters {
		rows = append(rows, row(p.In, p.Name, p.Required, &p.Use))
	}
	if o.Body != nil {
		rows = append(rows, members("body", o.Body)...)
	}
	for _, r := range o.Replies {
		if r.Body != nil {
			rows = append(rows, members(fmt.Sprintf("reply %d", r.Status), r.Body)...)
		}
		if r.Stream == nil {
			continue
		}
		for i := range r.Stream.Events {
			event := &r.Stream.Events[i]
			if !event.Mark.Plain() {
				rows = append(rows, row("event "+event.EventName, "[event="+event.EventName+"]", false, event))
			}
			rows = append(rows, members("event "+event.EventName, event)...)
		}
	}
	return rows
}

// Marked lists the rows whose mark is not plain.
func (o *Operation) Marked() []Row {
	var rows []Row
	for _, r := range o.Matrix() {
		if !r.Mark.Plain() {
			rows = append(rows, r)
		}
	}
	return rows
}

func row(part, field string, required bool, u *Use) Row {
	return Row{
		Part: part, Field: field, Type: u.Schema.TypeText(), Schema: u.Schema, Required: required,
		Default: string(u.Default),
		Mark:    u.Mark, Description: u.Description, Line: u.Line,
	}
}

// lister collects the rows of one part of an operation.
type lister struct {
	part string
	rows []Row
	seen map[*Schema]string // path at which a schema is listed
}

func members(part string, u *Use) []Row {
	l := &lister{part: part, seen: map[*Schema]string{}}
	l.below("", u.Schema)
	return l.rows
}

// inside lists the fields of a value, unless they have no effect.
func (l *lister) inside(field string, u *Use) {
	if u.Mark.Server != SupportIgnored && u.Mark.Server != SupportRefused {
		l.below(field, u.Schema)
	}
}

func (l *lister) below(field string, s *Schema) {
	for _, v := range s.ValueMarks {
		text, _ := jsontext.AppendQuote(nil, v.Value) // from a document, which is Unicode
		l.rows = append(l.rows, Row{Part: l.part, Field: field + "=" + v.Value, Type: string(text), Mark: v.Mark})
	}
	if len(s.Properties)+len(s.Union) > 0 {
		if first, ok := l.seen[s]; ok {
			if n := len(l.rows); n > 0 && first != "" {
				l.rows[n-1].See = first
			}
			return
		}
		l.seen[s] = field
	}
	for i := range s.Properties {
		p := &s.Properties[i]
		name := strings.TrimPrefix(field+"."+p.Name, ".")
		l.rows = append(l.rows, row(l.part, name, p.Required, &p.Use))
		l.inside(name, &p.Use)
	}
	if s.Items != nil {
		l.inside(field+"[]", s.Items)
	}
	if s.Additional != nil {
		l.inside(field+".*", s.Additional)
	}
	if s.Content != nil {
		l.inside("", s.Content)
	}
	l.union(field, s)
}

func (l *lister) union(field string, s *Schema) {
	for _, value := range s.Values() {
		branch, _ := s.Branch(value)
		name := fmt.Sprintf("%s[%s=%s]", strings.TrimSuffix(field, "[]"), s.Discriminator, value)
		l.rows = append(l.rows, row(l.part, name, false, branch))
		l.inside(name, branch)
	}
	if s.Default != nil {
		name := fmt.Sprintf("%s[%s=*]", strings.TrimSuffix(field, "[]"), s.Discriminator)
		l.rows = append(l.rows, row(l.part, name, false, s.Default))
	}
	for i := range s.Union {
		branch := &s.Union[i]
		if s.Discriminator != "" && branch.Schema.Kinds&Object != 0 {
			continue
		}
		if !branch.Mark.Plain() {
			l.rows = append(l.rows, row(l.part, field, false, branch))
		}
		l.inside(field, branch)
	}
}

// TypeText describes the accepted values in a few words, by component name if there is one.
func (s *Schema) TypeText() string {
	switch {
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, value := range s.Enum {
			words[i] = string(value)
		}
		return strings.Join(words, " or ")
	case len(s.Union) > 0 && s.Discriminator == "":
		words := make([]string, len(s.Union))
		for i, branch := range s.Union {
			words[i] = branch.Schema.TypeText()
		}
		return strings.Join(words, " or ")
	case s.Items != nil && s.Kinds&Array != 0:
		return "array of " + s.Items.Schema.TypeText()
	case s.Additional != nil:
		return "map of " + s.Additional.Schema.TypeText()
	case s.Name != "" && s.Kinds&Object != 0:
		return s.Name
	}
	return s.Kinds.String()
}
