package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/diglot/diglot/tools/internal/comparison"
)

func result() comparison.Report {
	const things = "POST /v1/things"
	return comparison.Report{Styles: []comparison.Compared{{Title: "Things", Operations: []comparison.Operation{
		{Name: things, Fields: 3, Differences: []comparison.Difference{
			{Operation: things, Part: "body", Field: "tree.right", Kind: comparison.Lacks, Vendor: "object"},
			{Operation: things, Part: "body", Field: "voice", Kind: comparison.Lacks, Vendor: "string"},
			{Operation: things, Part: "body", Field: "store", Kind: comparison.Type, Vendor: "boolean or object", Ours: "boolean",
				Mark: "ignored: Nothing is kept.", Reason: "ignored: Nothing is kept."},
		}},
		{Name: "POST /v1/things/batches", Refused: "There are no batches."},
	}}}}
}

func TestSummarise(t *testing.T) {
	var said bytes.Buffer
	if summarise(result(), []string{"*, *, event, *: x"}, &said) {
		t.Error("what is unexplained counts as clean")
	}
	for _, want := range []string{"unexplained: POST /v1/things, body: voice: lacks", "explains nothing: *, *, event, *: x", "2 unexplained"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("nothing says %q:\n%s", want, said.String())
		}
	}
}

func TestPage(t *testing.T) {
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, result()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"DO NOT EDIT",
		"`tree.right`, `voice` | lacks | object; string |  |  |\n",
		"| body | `store` | type | boolean or object | boolean | ignored: Nothing is kept. |\n",
		"Refused: There are no batches.",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
}
