package format

import (
	"slices"
	"strings"
)

// SyntaxKind is the shape of a tool call in a model's output.
type SyntaxKind string

// The closed list of shapes.
const (
	SyntaxUnknown SyntaxKind = ""       // the template shows no calls, or in an order that is not understood
	SyntaxJSON    SyntaxKind = "json"   // one JSON object holds the name and the arguments
	SyntaxNamed   SyntaxKind = "named"  // the name, then the arguments as one JSON object
	SyntaxTagged  SyntaxKind = "tagged" // the name, then each argument by itself
)

// Syntax is the markup of a model's output as its template shows it. White
// space in it is as in the template. An id of a call reads {id}.
//
//	SectionStart CallStart call CallEnd (Separator CallStart call CallEnd)* SectionEnd
//
// The call itself is, by kind:
//
//	json    {"NameField": name, "ArgumentsField": {…}}, in one array for all calls if Array is set
//	named   name NameEnd {…}
//	tagged  name NameEnd (ArgumentStart key KeyEnd value ArgumentEnd)*
type Syntax struct {
	ReasoningStart, ReasoningEnd string // trimmed; empty: the model does not think, or nothing shows how
	TurnEnd                      string

	Kind                     SyntaxKind
	SectionStart, SectionEnd string
	CallStart, CallEnd       string
	Separator                string

	Array                              bool
	NameField, ArgumentsField, IDField string

	NameEnd, ArgumentStart, KeyEnd, ArgumentEnd string

	Odd bool // a second call or argument is written in another way
}

// Generic is the name of formats that are made of a [Syntax].
const Generic = "generic"

// Recognize finds the output format of a model: the one of that name, or one
// made of what its template shows. control are the model's control tokens.
func Recognize(name string, syntax *Syntax, control []string) (*Format, bool) {
	if name == Generic {
		return syntax.format(control), true
	}
	f, ok := ByName(name)
	if ok && syntax.ReasoningStart != "" && (f.Open == "" || f == hermes) && !f.channels && f != plain {
		own := *f
		own.Open, own.Close = syntax.ReasoningStart, syntax.ReasoningEnd
		own.Markers = append(slices.Clone(f.Markers), own.Open, own.Close)
		return &own, true
	}
	return f, ok
}

// idPlace stands for an id in the marks of a [Syntax].
const idPlace = "{id}"

// marks is all the markup of the syntax.
func (s *Syntax) marks() string {
	return strings.Join([]string{s.ReasoningStart, s.ReasoningEnd, s.SectionStart, s.SectionEnd, s.CallStart, s.CallEnd,
		s.NameEnd, s.ArgumentStart, s.KeyEnd, s.ArgumentEnd}, " ")
}

// format is a format made of what a template shows. White space around marks
// is what models vary, so it is only asked for where output is constrained.
func (s *Syntax) format(control []string) *Format {
	f := &Format{Name: Generic, Open: s.ReasoningStart, Close: s.ReasoningEnd}
	c := callSyntax{
		section:    strings.TrimSpace(s.SectionStart),
		sectionEnd: strings.TrimSpace(s.SectionEnd),
		between:    " \t\r\n" + strings.TrimSpace(s.Separator),
		separator:  s.Separator,
		list:       s.Array,
	}
	if s.Array {
		c.between += ",[]"
	}
	start := strings.TrimSpace(s.CallStart)
	if strings.HasSuffix(s.CallStart, "\n") {
		c.pad = "\n"
	}
	// A mark in two parts: what is between them is white space or an id.
	c.open, start, _ = cutMark(start)
	c.ends = strings.Fields(s.CallEnd)
	switch s.Kind {
	case SyntaxJSON:
		j := jsonCall{name: []string{s.NameField}, arguments: []string{s.ArgumentsField}, id: s.IDField}
		if s.NameField == "" {
			j = jsonCall{}
		}
		c.reader = j
		if start != "" {
			c.open = strings.TrimSpace(s.CallStart)
		}
	case SyntaxNamed:
		c.reader = s.named(start)
	case SyntaxTagged:
		c.reader = s.tagged(start)
	}
	if c.opener() != "" && c.reader != nil {
		f.Calls = []callSyntax{c}
	}
	marks := s.marks()
	for _, token := range control {
		if token != "" && strings.Contains(marks, token) {
			f.Markers = append(f.Markers, token)
		}
	}
	return f
}

// cutMark cuts a mark where an id or white space stands in it.
func cutMark(s string) (before, after string, id bool) {
	if before, after, id = strings.Cut(s, idPlace); id {
		return before, after, true
	}
	if i := strings.IndexAny(s, " \t\r\n"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:]), false
	}
	return s, "", false
}

// named reads a name and then one JSON object; nil: no mark is between them.
func (s *Syntax) named(prefix string) callReader {
	n := namedCall{prefix: prefix, mark: strings.TrimSpace(s.NameEnd)}
	if strings.Contains(s.CallStart, idPlace) {
		n.prefix, n.idFirst = "", prefix
	}
	if before, after, ok := strings.Cut(n.mark, idPlace); ok {
		n.idMark, n.mark = before, after
	}
	if n.mark == "" {
		n.mark = s.NameEnd
	}
	if n.mark == "" {
		return nil
	}
	return n
}

// tagged reads a name and then each argument by itself.
func (s *Syntax) tagged(nameOpen string) callReader {
	t := taggedCall{
		nameOpen: nameOpen,
		nameEnd:  strings.TrimSpace(s.NameEnd),
		keyOpen:  strings.TrimSpace(s.ArgumentStart),
		valueEnd: strings.TrimSpace(s.ArgumentEnd),
	}
	t.keyEnd, t.valueStart, _ = cutMark(strings.TrimSpace(s.KeyEnd))
	if strings.HasSuffix(s.KeyEnd, "\n") || strings.HasSuffix(s.ArgumentEnd, "\n") {
		t.line = "\n"
	}
	if t.keyOpen == "" || t.keyEnd == "" || t.valueEnd == "" {
		return nil
	}
	return t
}
