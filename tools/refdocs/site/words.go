package site

import (
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"

	"github.com/diglot/diglot/tools/refdocs/reference"
)

func functions(root string) template.FuncMap {
	return template.FuncMap{
		"root":   func() string { return root },
		"inline": inline, "paragraphs": paragraphs, "badges": badges, "inside": inside, "place": place, "slug": slug,
		"tree": func(fields []*reference.Field) treeOf { return treeOf{fields} },
	}
}

// treeOf is what the template of a tree takes.
type treeOf struct{ Fields []*reference.Field }

var span = regexp.MustCompile("`([^`]+)`")

// inline writes one line of text with code in it.
func inline(text string) template.HTML {
	escaped := html.EscapeString(strings.Join(strings.Fields(text), " "))
	return template.HTML(span.ReplaceAllString(escaped, "<code>$1</code>"))
}

// paragraphs writes a text of several paragraphs.
func paragraphs(text string) (template.HTML, error) {
	content, err := fromMarkdown("index.md", []byte(text))
	return template.HTML(content), err
}

// badge is a word on the support of a field, with a class of its own.
type badge struct{ Class, Text string }

func badges(s reference.Support) []badge {
	var all []badge
	if s.Default != "implemented" {
		all = append(all, badge{s.Default, s.Default})
	}
	if !s.Same() {
		text := s.Document + " with --profile document"
		if s.Instead != "" {
			text += ", which sends " + s.Instead
		}
		all = append(all, badge{s.Document, text})
	}
	return all
}

// inside says what a field has inside: 3 fields, 2 kinds.
func inside(fields []*reference.Field) string {
	what := "field"
	switch label := fields[0].Label; {
	case strings.HasPrefix(label, "as "):
		what = "form"
	case strings.HasPrefix(label, "= "):
		what = "value"
	case strings.Contains(label, " = "):
		what = "kind"
	}
	if len(fields) != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", len(fields), what)
}

// place says where an event may come in its stream.
func place(p reference.Place) template.HTML {
	var words []string
	if p.First {
		words = append(words, "May be the first event.")
	}
	var next []string
	for _, name := range p.Next {
		next = append(next, fmt.Sprintf(`<a href="#%s"><code>%s</code></a>`, reference.Anchor("event "+name, ""), html.EscapeString(name)))
	}
	if p.Last && len(next) > 0 {
		next = append(next, "the end")
	}
	switch last := len(next) - 1; {
	case last > 0:
		words = append(words, "After it: "+strings.Join(next[:last], ", ")+" or "+next[last]+".")
	case last == 0:
		words = append(words, "After it: "+next[0]+".")
	case p.Last:
		words = append(words, "Ends the stream.")
	}
	return template.HTML(strings.Join(words, " "))
}

var notInIDs = regexp.MustCompile(`[^a-z0-9]+`)

func slug(text string) string {
	return strings.Trim(notInIDs.ReplaceAllString(strings.ToLower(text), "-"), "-")
}

var blanks = regexp.MustCompile(`\n\s*\n+`)

var code = regexp.MustCompile(`(?s)<pre.*?</pre>`)

// lean removes blank lines that templates leave, outside of code.
func lean(text []byte) []byte {
	var b []byte
	at := 0
	for _, span := range code.FindAllIndex(text, -1) {
		b = append(b, blanks.ReplaceAll(text[at:span[0]], []byte("\n"))...)
		b = append(b, text[span[0]:span[1]]...)
		at = span[1]
	}
	return append(b, blanks.ReplaceAll(text[at:], []byte("\n"))...)
}
