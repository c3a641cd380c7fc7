package difference

import (
	"fmt"
	"slices"
	"strings"
)

// fewCases is how many cases are named beside a difference.
const fewCases = 3

// line is one or several differences in one line: the same one of several events, or of
// several fields of an object.
type line struct {
	title         string
	events, paths []string
	text          string
	cases         []string
	kind          Kind
}

// lines joins what can be told together, in the order of the differences.
func lines(all []Difference) []line {
	var events []line
	for _, d := range all {
		l := line{title: d.Operation, text: d.Text, cases: d.Cases, kind: d.Kind, paths: named(d.Path), events: named(d.Event)}
		switch {
		case d.Kind == Header:
			l.title = "Headers"
		case d.Operation == "":
			l.title = "Cases"
		}
		i := slices.IndexFunc(events, func(o line) bool {
			together := o.title == l.title && o.kind == l.kind && o.text == l.text && slices.Equal(o.paths, l.paths)
			return together && (l.kind == Header || len(l.events) > 0 && slices.Equal(o.cases, l.cases))
		})
		if i < 0 {
			events = append(events, l)
			continue
		}
		events[i].events = append(events[i].events, l.events...)
		if l.kind == Header {
			events[i].cases = append(events[i].cases[:len(events[i].cases):len(events[i].cases)], l.cases...)
		}
	}
	slices.SortStableFunc(events, func(a, b line) int { return strings.Compare(a.title, b.title) })
	return fields(events)
}

// fields joins the fields of one object.
func fields(all []line) []line {
	var joined []line
	for _, l := range all {
		i := slices.IndexFunc(joined, func(o line) bool {
			return (l.kind == Missing || l.kind == Added) && len(l.paths) > 0 && len(o.paths) > 0 && o.kind == l.kind && o.title == l.title &&
				parent(o.paths[0]) == parent(l.paths[0]) && slices.Equal(o.events, l.events) && slices.Equal(o.cases, l.cases)
		})
		if i < 0 {
			joined = append(joined, l)
			continue
		}
		joined[i].paths = append(joined[i].paths, strings.TrimPrefix(l.paths[0], parent(l.paths[0])))
	}
	return joined
}

// parent is the path of the object that has a field, with the dot behind it.
func parent(path string) string { return path[:strings.LastIndexByte(path, '.')+1] }

func named(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// Text writes a comparison for a terminal.
func (c Comparison) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d the same; %s\n", count(c.Cases, "case"), c.Same, count(len(c.Differences), "difference"))
	title := ""
	for _, l := range lines(c.Differences) {
		if l.title != title {
			title = l.title
			fmt.Fprintf(&b, "\n%s\n", title)
		}
		fmt.Fprintf(&b, "  %9s  %s  (%s)\n", count(len(l.cases), "case"), l.words(func(s string) string { return s }, l.text), some(l.cases))
	}
	return b.String()
}

// Markdown writes the differences as one table for each operation, below headings of a
// level such as "##".
func (c Comparison) Markdown(level string) string {
	var b strings.Builder
	title := ""
	for _, l := range lines(c.Differences) {
		if l.title != title {
			title = l.title
			fmt.Fprintf(&b, "\n%s %s\n\n| cases | difference | where |\n|---:|---|---|\n", level, title)
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", len(l.cases), l.words(code, plain.Replace(l.text)), plain.Replace(some(l.cases)))
	}
	return b.String()
}

// words is a line in words, with quotes around names.
func (l line) words(quote func(string) string, text string) string {
	for _, names := range [][]string{l.paths, l.events} {
		if len(names) > 0 {
			var all []string
			for _, n := range names {
				all = append(all, quote(n))
			}
			text = strings.Join(all, ", ") + ": " + text
		}
	}
	return text
}

func code(name string) string {
	return "`" + strings.NewReplacer("`", "'", "|", "\\|", "\n", " ").Replace(name) + "`"
}

// plain makes a text one of a cell of a Markdown table.
var plain = strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;", ">", "&gt;", "[", "\\[", "]", "\\]", "*", "\\*", "_", "\\_", "`", "'")

// some names a few cases.
func some(cases []string) string {
	if len(cases) > fewCases {
		return strings.Join(cases[:fewCases], ", ") + ", ..."
	}
	return strings.Join(cases, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
