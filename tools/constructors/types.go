package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
)

// types holds the declarations of a generated file.
type types struct {
	name    string // of the package
	imports []string
	structs map[string][]field
	maps    map[string]bool              // named map types
	unions  map[string]bool              // named types that hold the JSON of a union
	values  map[string]map[string]string // constants by type and JSON text
}

// field is a struct field.
type field struct {
	name string // in Go
	json string
	kind string // its type in Go syntax
}

func readTypes(source []byte) (types, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", source, parser.SkipObjectResolution)
	if err != nil {
		return types{}, err
	}
	t := types{file.Name.Name, nil, map[string][]field{}, map[string]bool{}, map[string]bool{}, map[string]map[string]string{}}
	for _, i := range file.Imports {
		imported, _ := strconv.Unquote(i.Path.Value) // as the parser has it
		t.imports = append(t.imports, imported)
	}
	text := func(n ast.Node) string {
		return string(source[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
	}
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				t.declare(s, text)
			case *ast.ValueSpec:
				t.value(s, text)
			}
		}
	}
	return t, nil
}

func (t types) declare(s *ast.TypeSpec, text func(ast.Node) string) {
	switch kind := s.Type.(type) {
	case *ast.MapType:
		t.maps[s.Name.Name] = true
	case *ast.StructType:
		fields := []field{}
		for _, f := range kind.Fields.List {
			if len(f.Names) == 1 && f.Names[0].Name == "union" {
				t.unions[s.Name.Name] = true
			}
			if f.Tag == nil || len(f.Names) != 1 {
				continue
			}
			tag, _ := strconv.Unquote(f.Tag.Value)
			name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			fields = append(fields, field{f.Names[0].Name, name, text(f.Type)})
		}
		t.structs[s.Name.Name] = fields
	}
}

// value records an enum constant.
func (t types) value(s *ast.ValueSpec, text func(ast.Node) string) {
	if s.Type == nil || len(s.Values) != 1 {
		return
	}
	kind := text(s.Type)
	if t.values[kind] == nil {
		t.values[kind] = map[string]string{}
	}
	t.values[kind][text(s.Values[0])] = s.Names[0].Name
}
