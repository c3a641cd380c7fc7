package rules

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/doc"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	maxFileLines     = 420
	maxFunctionLines = 70

	// Nine of ten files and functions are shorter than that.
	usualFileLines     = 250
	usualFunctionLines = 26

	maxTestFileLines     = 600
	maxTestFunctionLines = 80

	maxDependencies = 30 // one of them for tests alone, one for a generator, one for the benchmark, and five of Go itself
)

// reason begins the comment that allows a long file or function: in a file,
// a line of its own before the package clause or right below it; for a
// function, a line in its own comment.
const reason = "long: "

func TestEveryPackageHasOneComment(t *testing.T) {
	comments := map[string][]string{}
	for _, f := range readPackages(t).files {
		if f.test && strings.HasSuffix(f.syntax.Name.Name, "_test") {
			continue
		}
		name := f.folder + " " + f.syntax.Name.Name
		if _, ok := comments[name]; !ok {
			comments[name] = nil
		}
		if f.syntax.Doc != nil {
			comments[name] = append(comments[name], f.name)
		}
	}
	for name, files := range comments {
		if len(files) != 1 {
			t.Errorf("package %s has %d package comments, not one: %v", name, len(files), files)
		}
	}
}

// TestPackagesForOthersHaveExamples wants one that runs in each package that
// other programs and tests may be built on.
func TestPackagesForOthersHaveExamples(t *testing.T) {
	examples := map[string]int{}
	for _, f := range readPackages(t).files {
		if f.test {
			for _, e := range doc.Examples(f.syntax) {
				if e.Output != "" {
					examples[f.folder]++
				}
			}
		}
	}
	for _, folder := range []string{"handlers", "handlers/handlerstest", "openapi", "openapi/conformance", "cassettes"} {
		if examples[folder] == 0 {
			t.Errorf("%s has no example with an output", folder)
		}
	}
}

func TestGeneratedFilesStandAlone(t *testing.T) {
	count := 0
	for _, f := range readPackages(t).files {
		inGen := within(f.folder, "gen")
		if inGen != f.generated {
			t.Errorf("%s: a file is in gen if, and only if, it begins with DO NOT EDIT", f.name)
		}
		if inGen {
			count++
		}
	}
	if count == 0 {
		t.Error("there is nothing in gen")
	}
}

func TestFilesAreShort(t *testing.T) {
	var all []int
	for _, name := range handWritten(t, ".go", ".py", ".js", ".mjs", ".ts", ".sh") {
		if strings.HasPrefix(name, "gen/") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines, most := bytes.Count(text, []byte("\n")), maxTestFileLines
		if isGo := strings.HasSuffix(name, ".go"); isGo && !strings.HasSuffix(name, "_test.go") {
			most = maxFileLines
			all = append(all, lines)
		}
		if lines > most && !bytes.Contains(text, []byte("\n// "+reason)) {
			t.Errorf("%s has %d lines, more than %d, and no reason beside it", name, lines, most)
		}
	}
	if n := ninth(all); n > usualFileLines {
		t.Errorf("nine of ten files have up to %d lines, more than %d", n, usualFileLines)
	}
}

// ninth is what nine of ten numbers do not exceed.
func ninth(all []int) int {
	slices.Sort(all)
	return all[(len(all)-1)*9/10]
}

func TestFunctionsAreShort(t *testing.T) {
	var all []int
	for _, f := range readPackages(t).files {
		if f.generated {
			continue
		}
		most := maxFunctionLines
		if f.test {
			most = maxTestFunctionLines
		}
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := f.position.Position(fn.End()).Line - f.position.Position(fn.Pos()).Line + 1
			if !f.test {
				all = append(all, lines)
			}
			if lines > most && !hasReason(fn.Doc) {
				t.Errorf("%s: %s has %d lines, more than %d, and no reason beside it", f.name, fn.Name.Name, lines, most)
			}
		}
	}
	if n := ninth(all); n > usualFunctionLines {
		t.Errorf("nine of ten functions have up to %d lines, more than %d", n, usualFunctionLines)
	}
}

func hasReason(comment *ast.CommentGroup) bool {
	if comment == nil {
		return false
	}
	for _, c := range comment.List {
		if strings.HasPrefix(c.Text, "// "+reason) {
			return true
		}
	}
	return false
}

func TestNoInit(t *testing.T) {
	for _, f := range readPackages(t).files {
		if f.generated {
			continue
		}
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function: wiring belongs to cmd, where it can be seen", f.name)
			}
		}
	}
}

func TestEnvironmentIsReadInProgramsOnly(t *testing.T) {
	for _, f := range readPackages(t).files {
		if f.test || f.generated || within(f.folder, "cmd") || within(f.folder, "tools") ||
			f.folder == "handlers/handlerstest" { // part of tests alone, as border_test.go says
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if ok && pkg.Name == "os" && (sel.Sel.Name == "Getenv" || sel.Sel.Name == "LookupEnv") {
				t.Errorf("%s reads the environment; only cmd and tools do", f.name)
			}
			return true
		})
	}
}

// htmlWriters are the ways to write JSON with escapes for pages of HTML.
var htmlWriters = []string{"Marshal", "MarshalIndent", "NewEncoder", "HTMLEscape"}

// htmlAllowed are the files that write JSON so on purpose.
var htmlAllowed = map[string]string{
	"engine/models/modelfile/build.go":  "the digest of a layer is that of the bytes which Ollama writes",
	"engine/models/store/manifest.go":   "the digest of a manifest is that of the bytes which Ollama writes",
	"engine/models/registry/private.go": "a registry gets the manifest as the store has it",
}

// TestJSONIsPlain keeps escapes for HTML out of what is sent, shown or put
// into a prompt: internal/plainjson is the one way to write JSON.
func TestJSONIsPlain(t *testing.T) {
	used := map[string]bool{}
	for _, f := range readPackages(t).files {
		if f.test || f.generated || within(f.folder, "tools") || f.folder == "handlers/handlerstest" {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			switch {
			case !ok:
			case pkg.Name == importName(f.syntax, "encoding/json") && slices.Contains(htmlWriters, sel.Sel.Name):
				if used[f.name] = true; htmlAllowed[f.name] == "" {
					t.Errorf("%s uses json.%s, which escapes for HTML; use internal/plainjson", f.name, sel.Sel.Name)
				}
			case within(f.folder, "handlers") && generatedReply.MatchString(sel.Sel.Name):
				t.Errorf("%s uses %s, which escapes for HTML; use exchange.Reply", f.name, sel.Sel.Name)
			}
			return true
		})
	}
	for name := range htmlAllowed {
		if !used[name] {
			t.Errorf("%s need not be allowed any more", name)
		}
	}
}

// generatedReply are the generated types that write a reply by themselves.
var generatedReply = regexp.MustCompile(`^[A-Z]\w*[0-9]{3}(JSON|TextEventStream)Response$`)

// importName is what a file calls a package, or empty.
func importName(file *ast.File, what string) string {
	for _, spec := range file.Imports {
		if spec.Path.Value != strconv.Quote(what) {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(what)
	}
	return ""
}

// TestNothingIsLeftForLater refuses notes of unfinished work in hand-written
// files; an issue is the place for them.
func TestNothingIsLeftForLater(t *testing.T) {
	notes := [][]byte{[]byte("TO" + "DO"), []byte("FIX" + "ME")}
	for _, name := range handWritten(t, ".go", ".py", ".js", ".mjs", ".yaml", ".md", ".sh") {
		if strings.HasPrefix(name, "gen/") || path.Dir(name) == "cassettes" || strings.Contains(name, "/testdata/") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, note := range notes {
			if bytes.Contains(text, note) {
				t.Errorf("%s contains %s", name, note)
			}
		}
	}
}

// TestDependencies keeps go.mod short and says why each line is there.
func TestDependencies(t *testing.T) {
	atRoot(t)
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	direct := 0
	inRequire := false
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "replace"):
			t.Errorf("go.mod has a replace line, which users of the module would not get: %s", line)
		case strings.HasPrefix(line, "require"):
			inRequire = true
		case line == ")":
			inRequire = false
		}
		if !inRequire || !strings.Contains(line, " v") || strings.HasSuffix(line, "// indirect") {
			continue
		}
		direct++
		if _, why, ok := strings.Cut(line, "// "); !ok || len(why) < 10 {
			t.Errorf("go.mod: no reason beside %s", line)
		}
	}
	if direct > maxDependencies {
		t.Errorf("go.mod has %d direct dependencies, more than %d", direct, maxDependencies)
	}
	if direct == 0 {
		t.Error("no dependency was read from go.mod")
	}
}
