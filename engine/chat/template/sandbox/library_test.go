package sandbox

import (
	"maps"
	"slices"
	"testing"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/sandbox/librarytest"
	"github.com/google/go-cmp/cmp"
)

// TestWholeLibraryIsCounted holds the tables of costs against the library's
// source: a new version may have filters, methods, functions or operators that
// nobody has thought about.
func TestWholeLibraryIsCounted(t *testing.T) {
	library := librarytest.Read(t, jinja.Compile, "builtins.go", "eval.go", "parse.go")
	replaced := []string{"range", "raise_exception", "strftime_now"} // by functions of ours
	numbers := []string{"-", "/", "//", "**"}                        // operators that make nothing else
	for _, tt := range []struct {
		what      string
		have, got []string
	}{
		{"filters", slices.Collect(maps.Keys(filterCosts)), library.Literals("registerFilters")},
		{"functions", slices.Concat(slices.Collect(maps.Keys(functionCosts)), replaced), library.Literals("registerGlobals")},
		{"methods", slices.DeleteFunc(slices.Collect(maps.Keys(methodCosts)), func(name string) bool { return name == "changed" }),
			slices.Concat(library.Cases("stringMethod"), library.Cases("listMethod"), library.Cases("dictMethod"))},
		{"operators", slices.Concat(slices.Collect(maps.Keys(mustNatives(t).operations)), numbers,
			[]string{"==", "!=", "<", ">", "<=", ">=", "in", "not in"}), library.Cases("evalBinary")},
		{"nodes", []string{
			"litExpr", "nameExpr", "attrExpr", "itemExpr", "sliceExpr", "unaryExpr", "binExpr", "compareExpr", "condExpr", "callExpr", "filterExpr",
			"testExpr", "listExpr", "dictExpr", "textNode", "outputNode", "ifNode", "forNode", "setNode", "setBlockNode", "macroNode", "callNode",
			"filterBlockNode", "breakNode", "continueNode",
		}, slices.Concat(library.Types("evalExpr"), library.Types("execNode"))},
		{"statements", []string{"block", "break", "call", "continue", "filter", "for", "generation", "if", "macro", "raw", "set"},
			library.Cases("parseUntil")},
	} {
		if diff := cmp.Diff(librarytest.Sorted(tt.got), librarytest.Sorted(tt.have)); diff != "" {
			t.Errorf("%s (-library +counted):\n%s", tt.what, diff)
		}
	}
}

func mustNatives(t *testing.T) *natives {
	t.Helper()
	n, err := newNatives()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
