package difference

import (
	"fmt"
	"strings"
)

// fewCases is how many cases are named beside a difference.
const fewCases = 3

// Text writes a comparison for a terminal.
func (c Comparison) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d the same; %s\n", count(c.Cases, "case"), c.Same, count(len(c.Differences), "difference"))
	operation := "-"
	for _, d := range c.Differences {
		if d.Operation != operation {
			operation = d.Operation
			fmt.Fprintf(&b, "\n%s\n", title(operation))
		}
		fmt.Fprintf(&b, "  %9s  %s%s\n", count(len(d.Cases), "case"), d.words("", ""), named(d.Cases))
	}
	return b.String()
}

// Markdown writes the differences as one table for each operation, below headings of a
// level such as "##".
func (c Comparison) Markdown(level string) string {
	var b strings.Builder
	operation := "-"
	for _, d := range c.Differences {
		if d.Operation != operation {
			operation = d.Operation
			fmt.Fprintf(&b, "\n%s %s\n\n| cases | difference | where |\n|---:|---|---|\n", level, title(operation))
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", len(d.Cases), d.words("`", "`"), strings.Trim(cell(named(d.Cases)), " ()"))
	}
	return b.String()
}

func title(operation string) string {
	if operation == "" {
		return "Cases"
	}
	return operation
}

// words is the difference in words, with quotes around names.
func (d Difference) words(open, end string) string {
	text := d.Text
	if open != "" {
		text = cell(text)
	}
	for _, name := range []string{d.Path, d.Event} {
		if name != "" {
			text = open + cellName(name, open) + end + ": " + text
		}
	}
	return text
}

func cellName(name, quote string) string {
	if quote == "" {
		return name
	}
	return strings.NewReplacer("`", "'", "|", "\\|", "\n", " ").Replace(name)
}

// cell is a text in a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;", ">", "&gt;", "[", "\\[", "]", "\\]", "*", "\\*", "_", "\\_", "`", "'").Replace(text)
}

// named names a few cases in brackets.
func named(cases []string) string {
	if len(cases) > fewCases {
		return fmt.Sprintf("  (%s, ...)", strings.Join(cases[:fewCases], ", "))
	}
	return "  (" + strings.Join(cases, ", ") + ")"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
