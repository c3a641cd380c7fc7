package format

import (
	"slices"
	"strings"
)

// SyntaxKind is the kind of a tool call syntax.
type SyntaxKind string

// The kinds.
const (
	SyntaxUnknown SyntaxKind = ""       // the template shows no calls, or an unknown syntax
	SyntaxJSON    SyntaxKind = "json"   // one JSON object with the name and the arguments
	SyntaxNamed   SyntaxKind = "named"  // the name, then the arguments as one JSON object
	SyntaxTagged  SyntaxKind = "tagged" // the name, then each argument in tags
)

// Syntax is the markup of a model's output, found by rendering its chat template.
// White space is as in the template. {id} stands for a call id.
//
//	SectionStart CallStart call CallEnd (Separator CallStart call CallEnd)* SectionEnd
//
// The call itself is, by kind:
//
//	json    {"NameField": name, "ArgumentsField": {…}}, in one array for all calls if Array is set
//	named   name NameEnd {…}
//	tagged  name NameEnd (ArgumentStart key KeyEnd value ArgumentEnd)*
type Syntax struct {
	ReasoningStart, ReasoningEnd string // trimmed; empty: no reasoning, or unknown
	TurnEnd                      string

	Kind                     SyntaxKind
	SectionStart, SectionEnd string
	CallStart, CallEnd       string
	Separator                string

	Array                              bool
	NameField, ArgumentsField, IDField string

	NameEnd, ArgumentStart, KeyEnd, ArgumentEnd string

	Odd bool // a second call or argument is written differently
}

// Generic is the name of formats derived from a [Syntax].
const Generic = "generic"

// Recognize returns the output format of a name, or one derived from the syntax
// of the model's template. control holds the model's special tokens.
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

// idPlace stands for a call id in a [Syntax].
const idPlace = "{id}"

// marks is all the markup of the syntax.
func (s *Syntax) marks() string {
	return strings.Join([]string{s.ReasoningStart, s.ReasoningEnd, s.SectionStart, s.SectionEnd, s.CallStart, s.CallEnd,
		s.NameEnd, s.ArgumentStart, s.KeyEnd, s.ArgumentEnd}, " ")
}

// format derives a format. Models vary the white space around delimiters, so only
// the grammar has it.
func (s *Syntax) format(control []string) *Format {
	f := &Format{Name: Generic, Open: s.ReasoningStart, Close: s.ReasoningEnd}
	c := callSyntax{
		section:    strings.TrimSpace(s.SectionStart),
		sectionEnd: strings.TrimSpace(s.SectionEnd),
		between:    " \t\r\n" + strings.TrimSpace(s.Separator),
		separator:  s.Separator,
		array:      s.Array,
	}
	if s.Array {
		c.between += ",[]"
	}
	start := strings.TrimSpace(s.CallStart)
	if strings.HasSuffix(s.CallStart, "\n") {
		c.pad = "\n"
	}
	// A delimiter in two parts has white space or an id between.
	c.open, start, _ = cutMark(start)
	c.ends = strings.Fields(s.CallEnd)
	switch s.Kind {
	case SyntaxJSON:
		j := jsonCall{name: []string{s.NameField}, arguments: []string{s.ArgumentsField}, id: s.IDField}
		if s.NameField == "" {
			j = jsonCall{}
		}
		c.parser = j
		if start != "" {
			c.open = strings.TrimSpace(s.CallStart)
		}
	case SyntaxNamed:
		c.parser = s.named(start)
	case SyntaxTagged:
		c.parser = s.tagged(start)
	}
	if c.opener() != "" && c.parser != nil {
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

// cutMark cuts a delimiter at an id or white space.
func cutMark(s string) (before, after string, id bool) {
	if before, after, id = strings.Cut(s, idPlace); id {
		return before, after, true
	}
	if i := strings.IndexAny(s, " \t\r\n"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:]), false
	}
	return s, "", false
}

// named is the parser of SyntaxNamed; nil: nothing separates name and arguments.
func (s *Syntax) named(prefix string) callParser {
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

// tagged is the parser of SyntaxTagged; nil: a delimiter is missing.
func (s *Syntax) tagged(nameOpen string) callParser {
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
