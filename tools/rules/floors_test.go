package rules

import (
	"go/ast"
	"maps"
	"slices"
	"testing"
)

const (
	maxPackageFiles = 25
	maxFloors       = 8
)

// TestPackagesAreSmall keeps packages to what a reader can hold in mind: few
// files, in few floors. A file stands one floor above the highest file whose
// declarations it names; files that name each other share a floor.
func TestPackagesAreSmall(t *testing.T) {
	folders := map[string][]source{}
	for _, f := range readPackages(t).files {
		if !f.test && !f.generated {
			folders[f.folder] = append(folders[f.folder], f)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		files := folders[folder]
		if len(files) > maxPackageFiles {
			t.Errorf("%s has %d files, more than %d", folder, len(files), maxPackageFiles)
		}
		if top := slices.Max(floors(files)); top > maxFloors {
			t.Errorf("%s has files on %d floors, more than %d", folder, top, maxFloors)
		}
	}
}

// floors gives the floor of each file of one package, from 1.
func floors(files []source) []int {
	declared := map[string][]int{} // by name: more than one for a name per platform
	methods := map[string][]int{}
	for i, f := range files {
		names, ofTypes := declarations(f.syntax)
		for _, name := range names {
			declared[name] = append(declared[name], i)
		}
		for _, name := range ofTypes {
			methods[name] = append(methods[name], i)
		}
	}
	reach := make([]map[int]bool, len(files))
	for i, f := range files {
		reach[i] = map[int]bool{}
		for _, ident := range f.syntax.Unresolved {
			for _, j := range declared[ident.Name] {
				reach[i][j] = true
			}
		}
		for _, name := range selectors(f.syntax) {
			// What two types have may be either's.
			if at := methods[name]; len(at) == 1 {
				reach[i][at[0]] = true
			}
		}
	}
	for through := range files { // transitive closure
		for i := range files {
			if reach[i][through] {
				maps.Copy(reach[i], reach[through])
			}
		}
	}
	floor := make([]int, len(files))
	var of func(i int) int
	of = func(i int) int {
		if floor[i] == 0 {
			floor[i] = 1
			for j := range reach[i] {
				if !reach[j][i] {
					floor[i] = max(floor[i], of(j)+1)
				}
			}
		}
		return floor[i]
	}
	for i := range files {
		of(i)
	}
	return floor
}

// declarations are the names that a file adds to its package, and the
// unexported methods that it adds to types.
func declarations(file *ast.File) (names, methods []string) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			} else if !d.Name.IsExported() {
				methods = append(methods, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, ident := range s.Names {
						names = append(names, ident.Name)
					}
				}
			}
		}
	}
	return names, methods
}

// selectors are the unexported names behind a dot: what is declared in the
// package itself.
func selectors(file *ast.File) []string {
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && !s.Sel.IsExported() {
			names = append(names, s.Sel.Name)
		}
		return true
	})
	return names
}

func TestFloors(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  int
	}{
		"apart":            {map[string]string{"a.go": "var a int", "b.go": "var b int"}, 1},
		"a chain":          {map[string]string{"a.go": "var a = b", "b.go": "var b = c", "c.go": "var c int"}, 3},
		"a circle":         {map[string]string{"a.go": "func a() { b() }", "b.go": "func b() { a() }", "c.go": "var c = a"}, 2},
		"a local name":     {map[string]string{"a.go": "func a(b int) int { return b }", "b.go": "var b int"}, 1},
		"a method":         {map[string]string{"a.go": "func (x *t) m() {}", "b.go": "type t struct{}"}, 2},
		"a method called":  {map[string]string{"a.go": "func a(x t) { x.m() }", "b.go": "func (t) m() {}", "c.go": "type t struct{}"}, 3},
		"one per platform": {map[string]string{"a_linux.go": "var a = b", "a_other.go": "var a = 1", "b.go": "var b int", "c.go": "var c = a"}, 3},
	} {
		var files []source
		for _, file := range slices.Sorted(maps.Keys(tt.files)) {
			files = append(files, parseSource(t, file, "package p\n"+tt.files[file]))
		}
		if got := slices.Max(floors(files)); got != tt.want {
			t.Errorf("%s: %d floors, want %d", name, got, tt.want)
		}
	}
}
