// Package diglot_test holds the rules that the whole repository keeps: who
// may import whom (border_test.go) and how the files look (hygiene_test.go).
// A rule that is only written down rots; these fail.
package diglot_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/diglot/diglot"

// borders says what packages may not import, tests aside. A name stands for
// the package and all below it, unless it ends in "/$": then for it alone.
var borders = []struct {
	from string
	not  []string
	why  string
}{
	{"openapi", []string{"gen", "handlers", "engine", "cassettes"},
		"the documents are read as data; whoever knows a style builds on them, not the other way round"},
	{"gen", []string{"openapi", "handlers", "engine", "cassettes"},
		"generated code knows the document it came from and nothing else"},
	{"engine", []string{"net/http", "gen", "handlers", "openapi", "cassettes"},
		"the engine has neutral words: it would serve another wire protocol as well"},
	{"engine/chat", []string{"engine/llamacpp", "engine/script", "engine/runner"},
		"chat works over any raw model"},
	{"engine/imagegen", []string{"engine/chat", "engine/grammar", "engine/llamacpp", "engine/script", "engine/runner"},
		"drawing has nothing to do with text"},
	{"engine/grammar", []string{"engine/chat", "engine/llamacpp", "engine/script", "engine/runner"},
		"a grammar is about text, not about a model or a token"},
	{"engine/llamacpp", []string{"engine/script", "engine/runner"},
		"llama.cpp computes; who supervises it, or plays it, is another's work"},
	{"engine/script", []string{"engine/llamacpp", "engine/runner"},
		"scripts run where there is no cgo"},
	{"engine/runner", []string{"engine/chat", "engine/grammar", "engine/llamacpp", "engine/script"},
		"supervision is tested over any engine, without cgo"},
	{"engine/gguf", []string{"engine/$", "engine/chat", "engine/inspection", "engine/library", "engine/llamacpp", "engine/memory", "engine/modelfile", "engine/modelstore", "engine/runner"},
		"the head of a file says nothing of who reads it"},
	{"engine/tokenizer", []string{"engine/$", "engine/chat", "engine/grammar", "engine/library", "engine/llamacpp", "engine/memory", "engine/modelfile", "engine/modelstore", "engine/runner", "engine/script"},
		"text becomes tokens by what a file says alone"},
	{"engine/inspection", []string{"engine/$", "engine/chat", "engine/library", "engine/llamacpp", "engine/memory", "engine/modelfile", "engine/modelstore", "engine/runner"},
		"what is wrong with a file does not depend on who wants it"},
	{"engine/memory", []string{"engine/$", "engine/chat", "engine/library", "engine/llamacpp", "engine/modelfile", "engine/modelstore", "engine/runner"},
		"what a model takes is told from files alone"},
	{"engine/modelstore", []string{"engine/$", "engine/chat", "engine/gguf", "engine/library", "engine/llamacpp", "engine/memory", "engine/modelfile", "engine/registry", "engine/runner"},
		"a store keeps bytes, whatever they are for"},
	{"engine/modelfile", []string{"engine/library", "engine/llamacpp", "engine/memory", "engine/registry", "engine/runner", "engine/script", "engine/upstream"},
		"a definition says what to load, and neither loads nor fetches it"},
	{"engine/library", []string{"engine/chat", "engine/gguf", "engine/llamacpp", "engine/registry", "engine/runner", "engine/script", "engine/upstream", "engine/credentials"},
		"who loads a model need not know how it computes, or where it came from"},
	{"engine/upstream", []string{"engine/chat", "engine/credentials", "engine/library", "engine/llamacpp", "engine/modelfile", "engine/modelstore", "engine/runner", "engine/script"},
		"who asks another server does not decide which one"},
	{"engine/registry", []string{"engine/$", "engine/chat", "engine/gguf", "engine/library", "engine/llamacpp", "engine/modelfile", "engine/runner", "gen", "handlers"},
		"a registry gives and takes bytes"},
	{"engine/credentials", []string{"engine/chat", "engine/library", "engine/modelfile", "engine/modelstore", "engine/upstream"},
		"whom the user trusts is not for a model to say"},
	{"control", []string{"gen", "handlers", "openapi", "terminal", "engine/chat", "engine/gguf", "engine/llamacpp", "engine/memory", "engine/modelfile", "engine/modelstore", "engine/registry", "engine/runner", "engine/script", "engine/upstream"},
		"the socket passes on what the library knows"},
	{"terminal", []string{"net/http", "gen", "handlers", "openapi", "control", "engine/chat", "engine/library", "engine/llamacpp", "engine/modelfile", "engine/modelstore", "engine/registry", "engine/runner", "engine/script", "engine/upstream"},
		"a terminal shows what it is given"},
	{"handlers", []string{"engine/llamacpp", "engine/runner", "engine/chat", "engine/grammar", "engine/script", "engine/library", "engine/modelfile", "engine/modelstore", "engine/upstream", "control", "terminal"},
		"a handler meets the neutral types alone"},
	{"handlers/openai", []string{"handlers/anthropic", "gen/anthropic"},
		"a style is an adapter, never a step"},
	{"handlers/anthropic", []string{"handlers/openai", "gen/openai"},
		"a style is an adapter, never a step"},
	{"handlers/internal", []string{"gen", "handlers/openai", "handlers/anthropic"},
		"what the styles share does not know them"},
	{"handlers/$", []string{"gen"},
		"mounting maps no field"},
	{"cassettes", []string{"handlers", "engine", "gen", "openapi"},
		"recordings are data"},
}

// outward are the packages below engine that are clients of other servers:
// what the engine may not know, they are made of.
var outward = []string{"engine/upstream", "engine/registry"}

// excepted reports whether the border of a package does not hold for from.
func excepted(from, border string) bool {
	return border == "engine" && slices.ContainsFunc(outward, func(p string) bool { return within(from, p) })
}

// reserved says which packages alone may import something, tests aside.
var reserved = []struct {
	what string
	only []string
	why  string
}{
	{"C", []string{"engine/llamacpp"}, "everything else compiles anywhere"},
	{"github.com/ollama/ollama/llama", []string{"engine/llamacpp"}, "the binding could be replaced"},
	{"github.com/ollama/ollama/template", []string{"engine/chat"}, "Go templates are read in one place"},
	{"github.com/ollama/ollama/api", []string{"engine/chat"}, "it is what those templates are written for, and no part of ours"},
	{"oras.land/oras-go/v2", []string{"engine/registry"}, "registries are asked in one place"},
	{"github.com/spf13/cobra", []string{"cmd"}, "the command line is the programs' business"},
	{"github.com/vbauerster/mpb/v8", []string{"terminal"}, "progress is shown in one place"},
	{"golang.org/x/term", []string{"cmd", "terminal"}, "only programs of people meet a terminal"},
	{"github.com/ardanlabs/jinja", []string{"engine/chat", "tools"}, "templates are rendered in one place"},
	{"github.com/getkin/kin-openapi", []string{"openapi", "tools", "handlers/handlerstest"}, "the documents are read in one place"},
	{"github.com/go-chi/chi/v5", []string{"handlers", "gen"}, "routing is the handlers' business"},
	{module + "/handlers/handlerstest", nil, "it is for tests"},
	{module + "/engine/enginetest", nil, "it is for tests"},
	{module + "/engine/chat/chattest", nil, "it is for tests"},
	{module + "/engine/tokenizer/tokenizertest", []string{"engine/chat/chattest"}, "it is for tests"},
	{"golang.org/x/text", []string{"engine/tokenizer"}, "text is what people wrote, everywhere but in a tokenizer"},
	{module + "/engine/inspection/inspectiontest", nil, "it is for tests"},
	{module + "/cmd", nil, "programs are not libraries"},
	{module + "/tools", []string{"tools"}, "what a developer runs is not part of the product"},
	{module + "/cassettes", []string{"tools"}, "recordings are for tests"},
}

func TestBorders(t *testing.T) {
	tree := readPackages(t)
	for _, b := range borders {
		if !tree.has(b.from) {
			t.Errorf("border of %s: there is no such package any more", b.from)
		}
		for _, not := range b.not {
			if not != "net/http" && !tree.has(not) {
				t.Errorf("border of %s: there is no package %s any more", b.from, not)
			}
			for _, imp := range tree.imports {
				if within(imp.from, b.from) && !excepted(imp.from, b.from) && (within(imp.what, not) || within(imp.what, module+"/"+not)) {
					t.Errorf("%s imports %s, but %s", imp.file, imp.what, b.why)
				}
			}
		}
	}
}

func TestReservedImports(t *testing.T) {
	tree := readPackages(t)
	for _, r := range reserved {
		known := false
		for _, imp := range tree.imports {
			if !within(imp.what, r.what) {
				continue
			}
			known = true
			inside := within(module+"/"+imp.from, r.what)
			if !inside && !slices.ContainsFunc(r.only, func(p string) bool { return within(imp.from, p) }) {
				t.Errorf("%s imports %s, but %s", imp.file, imp.what, r.why)
			}
		}
		if local, ok := strings.CutPrefix(r.what, module+"/"); ok {
			known = tree.has(local)
		}
		if !known {
			t.Errorf("rule for %s: nothing imports it any more", r.what)
		}
	}
}

// TestEngineHasNoWireNames keeps JSON out of the neutral types.
func TestEngineHasNoWireNames(t *testing.T) {
	for _, f := range readPackages(t).files {
		if f.folder != "engine" || f.test {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil {
				t.Errorf("%s: a field of a neutral type has the tag %s", f.name, field.Tag.Value)
			}
			return true
		})
	}
}

// source is one Go file.
type source struct {
	name, folder string // with slashes, from the root
	test         bool
	generated    bool
	syntax       *ast.File
	position     *token.FileSet
}

type importOf struct{ from, file, what string }

// packages is every Go file of the repository, whatever its build tags.
type packages struct {
	files   []source
	imports []importOf // of files that are not tests
}

func (p packages) has(name string) bool {
	return slices.ContainsFunc(p.files, func(f source) bool { return !f.test && within(f.folder, name) })
}

// within reports whether a package is the named one or below it; a name that
// ends in "/$" is only itself.
func within(pkg, name string) bool {
	if alone, ok := strings.CutSuffix(name, "/$"); ok {
		return pkg == alone
	}
	return pkg == name || strings.HasPrefix(pkg, name+"/")
}

func readPackages(t *testing.T) packages {
	t.Helper()
	var p packages
	for _, name := range handWritten(t, ".go") {
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, filepath.FromSlash(name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		f := source{name: name, folder: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			generated: ast.IsGenerated(syntax), syntax: syntax, position: set}
		p.files = append(p.files, f)
		for _, spec := range syntax.Imports {
			what, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !f.test {
				p.imports = append(p.imports, importOf{f.folder, f.name, what})
			}
		}
	}
	return p
}

// handWritten lists the repository's files with one of the endings, leaving
// out what is downloaded or built.
func handWritten(t *testing.T, endings ...string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"node_modules", "bin", "__pycache__"}, entry.Name())) {
				return filepath.SkipDir
			}
			return nil
		}
		if slices.Contains(endings, filepath.Ext(name)) {
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
