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
		if last := strings.TrimSpace(cells[len(cells)-1]); last != "tests" {
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
			if ok && f.Recv == nil && f.Name.Name == name && runBy(folder, name, syntax) {
				return true
			}
		}
	}
	return false
}

// runBy reports whether a step runs a test in a file of a folder.
func runBy(folder, name string, file *ast.File) bool {
	run := func(p packageTests) bool { return p.has(folder, name, file) }
	return slices.ContainsFunc(plainTests, run) || slices.ContainsFunc(modelTests, run) || slices.ContainsFunc(imageTests, run) ||
		slices.ContainsFunc(raceTests, func(p packageTests) bool { return run(p) && builds(file, p.tags, "race") })
}

// has reports whether a test in a file of a folder is among the tests.
func (p packageTests) has(folder, name string, file *ast.File) bool {
	if slices.Contains(p.except, folder) ||
		p.run != "" && !regexp.MustCompile(p.run).MatchString(name) ||
		p.skip != "" && regexp.MustCompile(p.skip).MatchString(name) {
		return false
	}
	for _, pattern := range p.packages {
		root, below := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "...")
		if path.Clean(root) == "." || folder == path.Clean(root) || below && strings.HasPrefix(folder+"/", root) {
			return builds(file, p.tags)
		}
	}
	return false
}

// builds reports whether a file's build line lets it in, on this system, with
// tags.
func builds(file *ast.File, tags ...string) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() > file.Package || !constraint.IsGoBuild(c.Text) {
				continue
			}
			line, err := constraint.Parse(c.Text)
			return err == nil && line.Eval(func(tag string) bool {
				return tag == "cgo" || tag == "unix" || tag == runtime.GOOS || slices.Contains(tags, tag)
			})
		}
	}
	return true
}

// TestEveryTestRuns holds that no test is in a place where no step finds it.
func TestEveryTestRuns(t *testing.T) {
	found := 0
	for _, file := range testFiles(t) {
		syntax, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", file), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !builds(syntax, "corpus") && !builds(syntax, "llamacpp") && !builds(syntax, "imagegen") {
			continue // for another system, or for a person
		}
		for _, d := range syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !isTest.MatchString(f.Name.Name) {
				continue
			}
			found++
			if !runBy(path.Dir(file), f.Name.Name, syntax) {
				t.Errorf("%s: %s never runs", file, f.Name.Name)
			}
		}
	}
	if found < 1000 {
		t.Errorf("%d tests were found, want more", found)
	}
}

var isTest = regexp.MustCompile(`^(Test|Fuzz)[A-Z]`)

// TestSerial holds that the packages whose tests run without the race detector
// do nothing at the same time.
func TestSerial(t *testing.T) {
	atOnce := regexp.MustCompile(`(?m)^\s*go (func|[a-zA-Z.]+)\(|"sync/atomic"|\bt\.Parallel\(|synctest|errgroup|\.Serve\(|NewServer\(`)
	for _, folder := range serial {
		files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if folder == "engine/chat/grammar" && path.Base(file) == "budget_test.go" {
				continue // TestGate, which is run with the race detector too
			}
			if found := atOnce.Find(text); found != nil {
				t.Errorf("%s has %q", file, found)
			}
		}
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
		{"engine/local/llamacpp", "TestSuite", true},      // needs llama.cpp
		{"engine/chat/template", "TestCorpusMasks", true}, // needs the corpus
		{"engine/upstream", "TestLlamaServer", false},     // is for a step that may have nothing to ask
	} {
		if got := runs(t, tt.folder, tt.name); got != tt.want {
			t.Errorf("%s.%s runs: %v, want %v", tt.folder, tt.name, got, tt.want)
		}
	}
}
