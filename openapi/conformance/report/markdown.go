package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/diglot/diglot/openapi/conformance"
)

const (
	markdownBody     = 1500 // bytes of a request or a reply
	markdownFailures = 3    // of one scenario
)

// Markdown writes the summary as a page: the score, a table of the groups, failures by
// group, and what was not tested and why.
func (s Summary) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Conformance of %s\n\n", Inline(s.clean(s.Server)))
	fmt.Fprintf(&b, "%s, %s profile, %s: **%.1f %%** (%d passed, %d failed, %d skipped, %d not offered).\n\n",
		cmp.Or(Inline(s.clean(s.Models.Text)), "No text model"), s.Profile, s.Date.UTC().Format(time.DateOnly), s.Score(),
		s.Count(conformance.Pass), s.Count(conformance.Fail), s.Count(conformance.Skipped), s.Count(conformance.NotOffered))
	s.MarkdownTable(&b)
	s.MarkdownFailures(&b)
	for _, o := range []conformance.Outcome{conformance.Skipped, conformance.NotOffered} {
		s.markdownReasons(&b, o)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// MarkdownTable writes how the scenarios of each group ended.
func (s Summary) MarkdownTable(b *strings.Builder) {
	b.WriteString("| group | passed | failed | skipped | not offered |\n|---|--:|--:|--:|--:|\n")
	for _, g := range s.Groups() {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d |\n", g.Name, g.Count(conformance.Pass), g.Count(conformance.Fail),
			g.Count(conformance.Skipped), g.Count(conformance.NotOffered))
	}
}

// MarkdownFailures writes the failures of each group, with the request of each as curl.
func (s Summary) MarkdownFailures(b *strings.Builder) {
	for _, g := range s.Groups() {
		if g.Count(conformance.Fail) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n## %s: %d failed\n", g.Name, g.Count(conformance.Fail))
		for _, r := range g.Results {
			if r.Outcome == conformance.Fail {
				s.markdownFailure(b, r)
			}
		}
	}
}

func (s Summary) markdownFailure(b *strings.Builder, r conformance.Result) {
	name := Inline(r.Name)
	if link := s.Link(r.Scenario); link != "" {
		name = "[" + name + "](" + link + ")"
	}
	fmt.Fprintf(b, "\n### %s\n\n%s\n", name, r.About)
	if reason, known := s.Baseline[r.Name]; known {
		fmt.Fprintf(b, "\n*%s*\n", strings.TrimSuffix("Known to fail: "+s.known(reason), ": "))
	}
	for i, f := range r.Failures {
		if i == markdownFailures {
			fmt.Fprintf(b, "\nAnd %d more.\n", len(r.Failures)-i)
			break
		}
		text := s.show(f, markdownBody)
		fmt.Fprintf(b, "\n- %s\n", Inline(oneLine(text.Message)))
		if text.Document != "" {
			fmt.Fprintf(b, "\n  Document: %s\n", Inline(oneLine(text.Document)))
		}
		if text.Curl != "" {
			fmt.Fprint(b, fenced("sh", text.Curl))
		}
		if text.Stack != "" {
			fmt.Fprint(b, fenced("", text.Stack))
		}
		if reply := strings.TrimSpace(text.Status + "\n" + text.Reply); reply != "" {
			fmt.Fprint(b, fenced("", reply))
		}
	}
}

func (s Summary) markdownReasons(b *strings.Builder, o conformance.Outcome) {
	reasons := s.Reasons(o)
	if len(reasons) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", strings.ToUpper(string(o[:1]))+string(o[1:]))
	for _, r := range reasons {
		fmt.Fprintf(b, "- %d: %s\n", len(r.Names), Inline(oneLine(s.reason(r.Reason))))
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Inline is text in backquotes, more of them than any run inside.
func Inline(text string) string {
	if text == "" {
		return ""
	}
	text, mark := marked(text, "`")
	if len(mark) > 1 {
		return mark + " " + text + " " + mark
	}
	return mark + text + mark
}

// fenced is a block of code inside a list item.
func fenced(language, text string) string {
	text, mark := marked(text, "```")
	block := mark + language + "\n" + text + "\n" + mark
	return "\n  " + strings.ReplaceAll(block, "\n", "\n  ") + "\n"
}

const longestMark = 10 // renderers know no marks of any length

// marked returns the mark around a text: one that is longer than any run of backquotes in it.
// A text with a longer run than a mark may have gets other quotes.
func marked(text, least string) (inside, mark string) {
	for mark = least; strings.Contains(text, mark); mark += "`" {
		if len(mark) == longestMark {
			return strings.ReplaceAll(text, "`", "'"), least
		}
	}
	return text, mark
}
