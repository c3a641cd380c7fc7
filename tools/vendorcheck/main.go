// Vendorcheck compares the documents in openapi with those of the vendors, and writes
// a page of all differences with their reasons: request fields that we lack, accept in
// other types or require; fields of replies and events that we lack, send in other
// types or omit.
//
//	go run ./tools/vendorcheck [-o FILE] OPENAI ANTHROPIC
//
// OPENAI and ANTHROPIC are the paths of the vendors' OpenAPI documents, as
// JSON or YAML, compressed by gzip or not. They are not part of the project.
//
// A difference is explained by the support mark of our field (x-support) or by an
// entry in tools/internal/comparison/reasons.yaml. Differences without a reason and unused entries are printed,
// and the exit status is 1.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/diglot/diglot/tools/internal/comparison"
)

func main() {
	out := flag.String("o", "", "file to write the page to, for example gen/reference/vendor.md")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: vendorcheck [-o FILE] OPENAI ANTHROPIC") }
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	clean, err := run(flag.Arg(0), flag.Arg(1), *out, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "vendorcheck:", err)
		os.Exit(2)
	}
	if !clean {
		os.Exit(1)
	}
}

// run compares both styles and reports whether everything is explained.
func run(openAI, anthropic, out string, said io.Writer) (bool, error) {
	reasons, err := comparison.Known()
	if err != nil {
		return false, err
	}
	var report comparison.Report
	for _, s := range []struct{ title, ours, vendor string }{
		{"OpenAI style", "openapi/openai.yaml", openAI},
		{"Anthropic style", "openapi/anthropic.yaml", anthropic},
	} {
		ours, err := comparison.Read(s.ours)
		if err != nil {
			return false, err
		}
		vendor, err := comparison.Read(s.vendor)
		if err != nil {
			return false, err
		}
		compared, err := comparison.Compare(ours, vendor, reasons.Links[s.title])
		if err != nil {
			return false, fmt.Errorf("%s: %w", s.title, err)
		}
		compared.Title = s.title
		report.Styles = append(report.Styles, compared)
	}
	unused := reasons.Explain(report)
	if out != "" {
		var page bytes.Buffer
		if err := pageTemplate.Execute(&page, report); err != nil {
			return false, err
		}
		if err := os.WriteFile(out, page.Bytes(), 0o644); err != nil {
			return false, err
		}
	}
	return summarise(report, unused, said), nil
}

// summarise prints what needs attention, then the counts.
func summarise(r comparison.Report, unused []string, said io.Writer) bool {
	for _, d := range r.Unexplained() {
		fmt.Fprintf(said, "unexplained: %s, %s: %s: %s (vendor: %s; ours: %s)\n", d.Operation, d.Part, d.Field, d.Kind, d.Vendor, d.Ours)
	}
	for _, pattern := range unused {
		fmt.Fprintf(said, "reasons.yaml: explains nothing: %s\n", pattern)
	}
	t := r.Tally()
	fmt.Fprintf(said, "%d operations, %d fields compared, %d differences: %d explained by marks, %d by reasons, %d unexplained\n",
		t.Operations, t.Fields, t.Differences, t.ByMark, t.ByReason, t.Unexplained)
	return t.Unexplained == 0 && len(unused) == 0
}
