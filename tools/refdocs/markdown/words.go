package markdown

import (
	"fmt"
	"strings"

	"github.com/diglot/diglot/tools/refdocs/reference"
)

// cell makes text fit into a table cell, or a list item.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func code(text string) string { return "`" + cell(text) + "`" }

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// fence writes a fenced code block.
func fence(language, text string) string {
	return "```" + language + "\n" + strings.TrimRight(text, "\n") + "\n```"
}

// support says what is special about the support of a field; or nothing.
func support(s reference.Support) string {
	if s.Plain() {
		return ""
	}
	var words []string
	if s.Default != "implemented" {
		words = append(words, "*"+s.Default+"*")
	}
	if !s.Same() {
		word := "*" + s.Document + " with `--profile document`*"
		if s.Instead != "" {
			word += ", which sends `" + s.Instead + "`"
		}
		words = append(words, word)
	}
	text := strings.Join(words, "; ")
	switch {
	case text != "" && s.Note != "":
		return text + ": " + s.Note
	case text != "":
		return text + "."
	}
	return s.Note
}

// fieldTree writes fields as nested lists.
func fieldTree(fields []*reference.Field) string {
	var b strings.Builder
	writeFields(&b, fields, 0)
	return b.String()
}

func writeFields(b *strings.Builder, fields []*reference.Field, depth int) {
	for _, f := range fields {
		fmt.Fprintf(b, "%s- <a id=\"%s\"></a>`%s`: %s", strings.Repeat("  ", depth), f.Anchor, f.Label, facts(f))
		for _, sentence := range []string{f.Description, see(f), support(f.Support)} {
			if sentence = strings.Join(strings.Fields(sentence), " "); sentence != "" {
				b.WriteString(" " + sentence)
			}
		}
		b.WriteByte('\n')
		writeFields(b, f.Fields, depth+1)
	}
}

func facts(f *reference.Field) string {
	words := []string{f.Type}
	if f.Required {
		words = append(words, "required")
	}
	if f.Range != "" {
		words = append(words, f.Range)
	}
	if f.Default != "" {
		words = append(words, "default `"+f.Default+"`")
	}
	return strings.Join(words, "; ") + "."
}

func see(f *reference.Field) string {
	if f.SeeAt == "" {
		return ""
	}
	return "Fields as in [`" + f.See + "`](#" + f.SeeAt + ")."
}

// place says where an event may come in its stream.
func place(p reference.Place) string {
	var words []string
	if p.First {
		words = append(words, "May be the first event.")
	}
	var next []string
	for _, name := range p.Next {
		next = append(next, "`"+name+"`")
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
	return strings.Join(words, " ")
}
