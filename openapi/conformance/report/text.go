package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/diglot/diglot/openapi/conformance"
)

const (
	textBody     = 1200 // bytes of a request or a reply on a terminal
	textFailures = 3    // of one scenario on a terminal
)

// Text writes the summary for a terminal: failures by group, a table, and the totals in
// the last line.
func (s Summary) Text(w io.Writer) error {
	var b strings.Builder
	for _, g := range s.Groups() {
		s.failures(&b, g)
	}
	s.table(&b)
	for _, o := range []conformance.Outcome{conformance.Skipped, conformance.NotOffered} {
		for _, r := range s.Reasons(o) {
			fmt.Fprintf(&b, "%s, %d: %s\n", o, len(r.Names), barred(s.reason(r.Reason)))
		}
	}
	fmt.Fprintf(&b, "%s\n", s.Totals())
	_, err := io.WriteString(w, b.String())
	return err
}

// Totals is the outcome in one line.
func (s Summary) Totals() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped, %d not offered; score %.1f %%",
		s.Count(conformance.Pass), s.Count(conformance.Fail), s.Count(conformance.Skipped), s.Count(conformance.NotOffered), s.Score())
}

func (s Summary) failures(b *strings.Builder, g Group) {
	if g.Count(conformance.Fail) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n", g.Name)
	for _, r := range g.Results {
		if r.Outcome == conformance.Fail {
			s.failure(b, r)
		}
	}
	fmt.Fprintln(b)
}

func (s Summary) failure(b *strings.Builder, r conformance.Result) {
	known := ""
	if reason, ok := s.Baseline[r.Name]; ok {
		known = strings.TrimSuffix(" (known: "+s.known(reason), ": ") + ")"
	}
	fmt.Fprintf(b, "\n  FAIL %s%s\n", r.Name, known)
	fmt.Fprintf(b, "  %s\n", r.About)
	for i, f := range r.Failures {
		if i == textFailures {
			fmt.Fprintf(b, "    and %d more\n", len(r.Failures)-i)
			break
		}
		text := strings.TrimSuffix(s.show(f, textBody).block(), "\n")
		fmt.Fprintf(b, "    %s\n", strings.ReplaceAll(text, "\n", "\n    "))
	}
	if link := s.Link(r.Scenario); link != "" {
		fmt.Fprintf(b, "  see %s\n", link)
	}
}

func (s Summary) table(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "PASSED\tFAILED\tSKIPPED\tNOT OFFERED\t  \n")
	for _, g := range s.Groups() {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t  %s\n", g.Count(conformance.Pass), g.Count(conformance.Fail),
			g.Count(conformance.Skipped), g.Count(conformance.NotOffered), g.Name)
	}
	_ = w.Flush() // a strings.Builder takes everything
}
