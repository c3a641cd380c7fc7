package template

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/ardanlabs/jinja"
	"github.com/google/go-cmp/cmp"
)

// TestWholeLibraryIsCounted holds the tables of costs against the library's
// source: a new version may have filters, methods, functions or operators that
// nobody has thought about.
func TestWholeLibraryIsCounted(t *testing.T) {
	library := readLibrary(t, jinja.Compile, "builtins.go", "eval.go", "parse.go")
	replaced := []string{"range", "raise_exception", "strftime_now"} // by functions of ours
	numbers := []string{"-", "/", "//", "**"}                        // operators that make nothing else
	for _, tt := range []struct {
		what      string
		have, got []string
	}{
		{"filters", slices.Collect(maps.Keys(filterCosts)), library.literals("registerFilters")},
		{"functions", slices.Concat(slices.Collect(maps.Keys(functionCosts)), replaced), library.literals("registerGlobals")},
		{"methods", slices.DeleteFunc(slices.Collect(maps.Keys(methodCosts)), func(name string) bool { return name == "changed" }),
			slices.Concat(library.cases("stringMethod"), library.cases("listMethod"), library.cases("dictMethod"))},
		{"operators", slices.Concat(slices.Collect(maps.Keys(mustNatives(t).operations)), numbers,
			[]string{"==", "!=", "<", ">", "<=", ">=", "in", "not in"}), library.cases("evalBinary")},
		{"nodes", []string{
			"litExpr", "nameExpr", "attrExpr", "itemExpr", "sliceExpr", "unaryExpr", "binExpr", "compareExpr", "condExpr", "callExpr", "filterExpr",
			"testExpr", "listExpr", "dictExpr", "textNode", "outputNode", "ifNode", "forNode", "setNode", "setBlockNode", "macroNode", "callNode",
			"filterBlockNode", "breakNode", "continueNode",
		}, slices.Concat(library.types("evalExpr"), library.types("execNode"))},
		{"statements", []string{"block", "break", "call", "continue", "filter", "for", "generation", "if", "macro", "raw", "set"},
			library.cases("parseUntil")},
	} {
		if diff := cmp.Diff(sorted(tt.got), sorted(tt.have)); diff != "" {
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

func sorted(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// library is a part of the source of a package.
type library struct {
	functions map[string]*ast.FuncDecl
	variables *ast.File // of the last file
}

// readLibrary reads files of the package that has a function.
func readLibrary(t *testing.T, function any, names ...string) library {
	t.Helper()
	pointer := reflect.ValueOf(function).Pointer()
	file, _ := runtime.FuncForPC(pointer).FileLine(pointer)
	l := library{functions: map[string]*ast.FuncDecl{}}
	for _, name := range names {
		syntax, err := parser.ParseFile(gotoken.NewFileSet(), filepath.Join(filepath.Dir(file), name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		l.variables = syntax
		for _, decl := range syntax.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				l.functions[f.Name.Name] = f
			}
		}
	}
	return l
}

// literals are the names that a function registers: the keys of a literal, or
// the first arguments of a method "set".
func (l library) literals(function string) []string {
	var names []string
	ast.Inspect(l.functions[function], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			names = append(names, texts(n.Key)...)
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "set" {
				names = append(names, texts(n.Args[0])...)
			}
		}
		return true
	})
	return names
}

// cases are the texts that a function switches over, and those that it
// compares with.
func (l library) cases(function string) []string {
	var names []string
	ast.Inspect(l.functions[function], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit: // a method's own switches
			return false
		case *ast.CaseClause:
			for _, e := range n.List {
				names = append(names, texts(e)...)
			}
		}
		return true
	})
	return names
}

// types are the names of the types that a function switches over.
func (l library) types(function string) []string {
	var names []string
	ast.Inspect(l.functions[function], func(n ast.Node) bool {
		clause, ok := n.(*ast.CaseClause)
		if !ok {
			return true
		}
		for _, e := range clause.List {
			if star, ok := e.(*ast.StarExpr); ok {
				names = append(names, star.X.(*ast.Ident).Name)
			}
		}
		return false
	})
	return names
}

func texts(e ast.Expr) []string {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != gotoken.STRING {
		return nil
	}
	text, _ := strconv.Unquote(literal.Value)
	return []string{text}
}
