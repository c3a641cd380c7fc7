package main

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// security is the list of what holds, and of the tests that show it.
const security = "../../SECURITY.md"

// namedTest is how the list names a test: folder and function.
var namedTest = regexp.MustCompile("`([a-z][a-z/]*)\\.((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")

// TestSecurityTestsRun holds that each test which SECURITY.md names is there,
// and that a step of make test runs it; and that no row goes without one.
func TestSecurityTestsRun(t *testing.T) {
	text, err := os.ReadFile(security)
	if err != nil {
		t.Fatal(err)
	}
	names := namedTest.FindAllStringSubmatch(string(text), -1)
	if len(names) < 20 {
		t.Fatalf("%d tests are named, want more", len(names))
	}
	for _, name := range names {
		if !runs(t, name[1], name[2]) {
			t.Errorf("%s.%s: no step of make test runs such a test", name[1], name[2])
		}
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if last := strings.TrimSpace(cells[len(cells)-1]); last != "shown by" {
			rows++
			if !namedTest.MatchString(last) {
				t.Errorf("the row %q names no test", strings.TrimSpace(cells[0]))
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d rows, want more", rows)
	}
}

// runs reports whether a step runs the test of a folder.
func runs(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.Name == name && (plainTests.has(folder, syntax) || modelTests.has(folder, syntax)) {
				return true
			}
		}
	}
	return false
}

// has reports whether a file of a folder is among the tests.
func (p packageTests) has(folder string, file *ast.File) bool {
	for _, pattern := range p.packages {
		root, below := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "...")
		if path.Clean(root) == "." || folder == path.Clean(root) || below && strings.HasPrefix(folder+"/", root) {
			return p.builds(file)
		}
	}
	return false
}

// builds reports whether a file's build line lets it in, on this system, with
// more tags.
func (p packageTests) builds(file *ast.File, more ...string) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() > file.Package || !constraint.IsGoBuild(c.Text) {
				continue
			}
			line, err := constraint.Parse(c.Text)
			return err == nil && line.Eval(func(tag string) bool {
				return tag == p.tags || tag == "cgo" || tag == "unix" || tag == runtime.GOOS || slices.Contains(more, tag)
			})
		}
	}
	return true
}

// TestMemoryTestsRun holds that tests which leave themselves out under the race
// detector are among those that run without it.
func TestMemoryTestsRun(t *testing.T) {
	name := regexp.MustCompile(memoryTests.run)
	found := 0
	for _, file := range testFiles(t) {
		syntax, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", file), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if plainTests.builds(syntax, "race") || !plainTests.builds(syntax) {
			continue
		}
		for _, d := range syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			found++
			if !name.MatchString(f.Name.Name) || !memoryTests.has(path.Dir(file), syntax) {
				t.Errorf("%s: %s never runs", file, f.Name.Name)
			}
		}
	}
	if found == 0 {
		t.Error("no test was found")
	}
}

// testFiles are those of the main module, from its root.
func testFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != "." {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "tools/sdk/") {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRunsFindsWhatDoesNot holds that the test above can fail.
func TestRunsFindsWhatDoesNot(t *testing.T) {
	for _, tt := range []struct {
		folder, name string
		want         bool
	}{
		{"tools/check", "TestRunsFindsWhatDoesNot", true},
		{"tools/check", "TestNone", false},
		{"tools/none", "TestRunsFindsWhatDoesNot", false},
		{"engine/llamacpp", "TestSuite", true},        // needs llama.cpp
		{"engine/chat", "TestCorpusMasks", true},      // needs the corpus
		{"engine/upstream", "TestLlamaServer", false}, // is for a step that may have nothing to ask
	} {
		if got := runs(t, tt.folder, tt.name); got != tt.want {
			t.Errorf("%s.%s runs: %v, want %v", tt.folder, tt.name, got, tt.want)
		}
	}
}
