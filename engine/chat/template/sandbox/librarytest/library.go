// Package librarytest reads the source of a library, for tests that hold tables
// of ours against it.
package librarytest

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// Sorted is a list of names in order, each once.
func Sorted(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// Library is a part of the source of a package.
type Library struct {
	functions map[string]*ast.FuncDecl
	variables *ast.File // of the last file
}

// Read reads files of the package that has a function.
func Read(t testing.TB, function any, names ...string) Library {
	t.Helper()
	pointer := reflect.ValueOf(function).Pointer()
	file, _ := runtime.FuncForPC(pointer).FileLine(pointer)
	l := Library{functions: map[string]*ast.FuncDecl{}}
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

// Literals are the names that a function registers: the keys of a literal, or
// the first arguments of a method "set".
func (l Library) Literals(function string) []string {
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

// Cases are the texts that a function switches over, and those that it
// compares with.
func (l Library) Cases(function string) []string {
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

// Types are the names of the types that a function switches over.
func (l Library) Types(function string) []string {
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

// Variable are the keys of the literal that a variable has.
func (l Library) Variable(name string) []string {
	var names []string
	ast.Inspect(l.variables, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != name {
			return true
		}
		for _, value := range spec.Values {
			ast.Inspect(value, func(n ast.Node) bool {
				if entry, ok := n.(*ast.KeyValueExpr); ok {
					names = append(names, texts(entry.Key)...)
				}
				return true
			})
		}
		return false
	})
	return names
}
