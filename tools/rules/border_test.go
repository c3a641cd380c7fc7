package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
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
	{"openapi/conformance/$", []string{"openapi/conformance/dialect", "openapi/conformance/scenario"},
		"what runs scenarios does not know what they say"},
	{"openapi/conformance/dialect", []string{"openapi/$", "openapi/conformance/scenario"},
		"a dialect is what clients send and read, whatever is tested with it and whatever the document says"},
	{"openapi/conformance/report", []string{"openapi/conformance/dialect", "openapi/conformance/protocol", "openapi/conformance/scenario"},
		"what is reported does not depend on what was tested"},
	{"gen", []string{"openapi", "handlers", "engine", "cassettes"},
		"generated code knows the document it came from and nothing else"},
	{"engine", []string{"net/http", "gen", "handlers", "openapi", "cassettes"},
		"the engine has neutral words: it would serve another wire protocol as well"},
	{"engine/gguf", []string{"engine/$", "engine/chat", "engine/local", "engine/models", "engine/picture", "engine/script", "engine/upstream"},
		"the header of a file does not depend on its readers"},
	{"engine/safetensors", []string{"engine/$", "engine/chat", "engine/diffusion", "engine/gguf", "engine/imagegen", "engine/local", "engine/models", "engine/picture", "engine/script", "engine/upstream"},
		"the header of a file does not depend on its readers"},
	{"engine/diffusion", []string{"engine/$", "engine/chat", "engine/imagegen", "engine/local", "engine/models", "engine/picture", "engine/script", "engine/upstream"},
		"what a file is for does not depend on who draws with it"},
	{"engine/picture", []string{"engine/chat", "engine/gguf", "engine/local", "engine/models", "engine/script", "engine/upstream"},
		"an image is checked alike wherever it comes from"},
	{"engine/chat", []string{"engine/local", "engine/models", "engine/script", "engine/upstream", "engine/imagegen"},
		"chat works over any raw model"},
	{"engine/chat/template", []string{"engine/chat/$", "engine/chat/grammar"},
		"a prompt is made whatever then continues it"},
	{"engine/chat/template/bounds", []string{"engine"},
		"what a rendering may take does not depend on what is rendered"},
	{"engine/chat/template/sandbox", []string{"engine/$", "engine/chat/$", "engine/chat/format", "engine/chat/template/$"},
		"running a template does not depend on what is said in it"},
	{"engine/chat/template/control", []string{"engine/$", "engine/chat/$", "engine/chat/format", "engine/chat/template/$", "engine/chat/template/bounds", "engine/chat/template/sandbox"},
		"what is a control token does not depend on the language of the template"},
	{"engine/chat/prompt", []string{"engine/chat/$", "engine/chat/format", "engine/chat/grammar", "engine/chat/template"},
		"a prompt does not depend on what made it"},
	{"engine/chat/format", []string{"engine/chat/$", "engine/chat/prompt", "engine/chat/template", "engine/chat/tokenizer"},
		"what models write is text, whatever made the prompt"},
	{"engine/chat/grammar", []string{"engine/$", "engine/chat/$", "engine/chat/format", "engine/chat/prompt", "engine/chat/template", "engine/chat/tokenizer", "engine/gguf"},
		"a grammar constrains text, whatever the model and its tokens"},
	{"engine/chat/tokenizer", []string{"engine/$", "engine/chat/$", "engine/chat/format", "engine/chat/grammar", "engine/chat/prompt", "engine/chat/template"},
		"a tokenizer depends on the vocabulary alone"},
	{"engine/local", []string{"engine/models", "engine/script", "engine/upstream", "engine/imagegen"},
		"computing a model does not depend on where it was found"},
	{"engine/local/decode", []string{"engine/gguf", "engine/local/confine", "engine/local/inspection", "engine/local/llamacpp", "engine/local/runner"},
		"what to compute is decided over any backend"},
	{"engine/local/decode/draft", []string{"engine/$", "engine/chat", "engine/local/llamacpp"},
		"a guess is numbers; what may be said is decided by who samples"},
	{"engine/local/llamacpp", []string{"engine/local/runner", "engine/local/confine"},
		"supervision is not the business of what is supervised"},
	{"engine/local/llamacpp/matrix", []string{"engine"},
		"a product does not depend on whose weights it multiplies"},
	{"engine/local/runner", []string{"engine/chat", "engine/gguf", "engine/local/inspection", "engine/local/llamacpp", "engine/local/memory"},
		"supervision is tested over any engine, without cgo"},
	{"engine/local/inspection", []string{"engine/$", "engine/chat", "engine/local/llamacpp", "engine/local/memory", "engine/local/runner"},
		"what is wrong with a file does not depend on who loads it"},
	{"engine/local/variant", []string{"engine"},
		"what a processor can do does not depend on what it is for"},
	{"engine/local/memory", []string{"engine/$", "engine/chat", "engine/local/inspection", "engine/local/llamacpp", "engine/local/runner"},
		"memory is planned from headers alone"},
	{"engine/models", []string{"engine/local/llamacpp", "engine/local/runner", "engine/script", "engine/upstream", "engine/imagegen"},
		"managing models does not depend on how they are computed"},
	{"engine/models/store", []string{"engine/$", "engine/chat", "engine/gguf", "engine/local", "engine/models/credentials", "engine/models/library", "engine/models/modelfile", "engine/models/registry"},
		"a store keeps bytes, whatever they are for"},
	{"engine/models/modelfile", []string{"engine/local/memory", "engine/models/credentials", "engine/models/library", "engine/models/registry"},
		"a Modelfile is neither fetched nor loaded here"},
	{"engine/models/registry", []string{"engine/$", "engine/chat", "engine/gguf", "engine/local", "engine/models/credentials", "engine/models/library", "engine/models/modelfile"},
		"a registry transfers bytes"},
	{"engine/models/credentials", []string{"engine/chat", "engine/models/library", "engine/models/modelfile", "engine/models/store"},
		"no model decides which hosts the user trusts"},
	{"engine/models/library", []string{"engine/chat", "engine/gguf", "engine/models/credentials", "engine/models/registry"},
		"loading a model does not depend on how it is computed or where it came from"},
	{"engine/imagegen", []string{"engine/chat", "engine/local", "engine/models", "engine/script"},
		"drawing has nothing to do with text"},
	{"engine/script", []string{"engine/local", "engine/models", "engine/upstream"},
		"scripts run where there is no cgo"},
	{"engine/mock", []string{"engine/local", "engine/models", "engine/script", "engine/upstream"},
		"a reply is made where there is neither cgo nor a model"},
	{"engine/mock/value", []string{"engine/$", "engine/chat/$", "engine/chat/format", "engine/chat/template", "engine/mock/$"},
		"a value follows its schema, whatever it is for"},
	{"engine/imagegen/$", []string{"engine/diffusion", "engine/gguf", "engine/safetensors"},
		"an image is asked of any raw model"},
	{"engine/imagegen/testcard", []string{"engine/$"},
		"a card shows a job, whoever asked"},
	{"engine/upstream", []string{"engine/chat", "engine/local", "engine/models", "engine/script"},
		"a client of another server does not decide which one"},
	{"cmd/diglot/internal/control", []string{"gen", "handlers", "openapi", "cmd/diglot/internal/terminal", "engine/chat", "engine/gguf", "engine/local", "engine/models/modelfile", "engine/models/store", "engine/models/registry", "engine/script", "engine/upstream"},
		"the socket passes on what the library knows"},
	{"cmd/diglot/internal/process", []string{"gen", "handlers", "openapi", "cmd/diglot/internal/control", "cmd/diglot/internal/terminal", "engine/models/store", "engine/script", "engine/upstream"},
		"the process of a model knows neither clients nor commands"},
	{"cmd/diglot/internal/serving", []string{"gen", "cmd/diglot/internal/terminal", "engine/chat", "engine/models", "engine/script", "engine/upstream"},
		"a socket is served alike, whoever answers"},
	{"cmd/diglot/internal/replay", []string{"gen", "cassettes", "cmd/diglot/internal/control", "cmd/diglot/internal/contract", "cmd/diglot/internal/terminal", "engine/chat", "engine/local", "engine/models", "engine/script", "engine/upstream"},
		"a reply is recorded or made, whatever the command line says"},
	{"cmd/diglot/internal/replay/fault", []string{"cmd/diglot/internal/replay/$", "engine/mock", "handlers", "internal/cassette", "openapi"},
		"a fault is one of any reply"},
	{"cmd/diglot/internal/contract", []string{"cmd/diglot/internal/process", "engine/local", "engine/models", "engine/script", "engine/upstream"},
		"a contract is checked without a model on this machine"},
	{"cmd/diglot/internal/flagvalue", []string{"gen", "handlers", "openapi", "engine", "cmd/diglot/internal/process"},
		"what a flag may be does not depend on what it is for"},
	{"cmd/diglot/internal/terminal", []string{"net/http", "gen", "handlers", "openapi", "cmd/diglot/internal/control", "engine/chat", "engine/local", "engine/models", "engine/script", "engine/upstream"},
		"a terminal shows what it is given"},
	{"handlers", []string{"engine/local", "engine/models", "engine/chat", "engine/script", "engine/imagegen", "engine/upstream"},
		"a handler meets the neutral types alone"},
	{"handlers/openai", []string{"handlers/anthropic", "gen/anthropic"},
		"a style is an adapter, never a step"},
	{"handlers/anthropic", []string{"handlers/openai", "gen/openai"},
		"a style is an adapter, never a step"},
	{"handlers/documents", []string{"gen", "engine", "handlers/$", "handlers/openai", "handlers/anthropic", "handlers/internal"},
		"a document is served as it is, whatever answers requests"},
	{"handlers/site", []string{"gen/openai", "gen/anthropic", "handlers/$", "handlers/openai", "handlers/anthropic", "handlers/internal", "openapi"},
		"a page is served whatever the styles are"},
	{"handlers/internal", []string{"gen", "handlers/openai", "handlers/anthropic"},
		"what the styles share does not know them"},
	{"handlers/$", []string{"gen"},
		"mounting maps no field"},
	{"cassettes", []string{"handlers", "engine", "gen", "openapi"},
		"recordings are data"},
	{"internal/cassette", []string{"handlers", "engine", "gen", "openapi", "cassettes"},
		"any HTTP exchange can be recorded"},
	{"internal/cassette/recorder", []string{"internal/cassette/difference"},
		"what is recorded does not depend on who compares it"},
	{"internal/cassette/difference", []string{"internal/cassette/recorder"},
		"recordings are compared, however they were made"},
	{"tools/internal/toolchain", []string{"engine", "cmd"},
		"how llama.cpp is compiled does not depend on what for"},
	{"tools/bench/machine", []string{"engine", "tools/bench/ask", "tools/bench/report", "tools/bench/sample"},
		"what a machine can do does not depend on what is asked of it"},
	{"tools/bench/report", []string{"engine", "tools/bench/ask"},
		"figures are shown alike, whatever they were measured with"},
	{"tools/bench/ask", []string{"tools/bench/machine", "tools/bench/report"},
		"a reply is timed whatever becomes of the figure"},
	{"tools/refdocs/reference", []string{"cassettes", "handlers", "tools/refdocs/client", "tools/refdocs/example", "tools/refdocs/markdown", "tools/refdocs/site"},
		"what the documents say does not depend on the pages that show it"},
	{"tools/refdocs/example", []string{"handlers", "openapi", "tools/refdocs/client", "tools/refdocs/markdown", "tools/refdocs/reference", "tools/refdocs/site"},
		"an example is a recording as code, on whatever page"},
}

// outward are the packages below engine that are clients of other servers:
// what the engine may not know, they are made of.
var outward = []string{"engine/upstream", "engine/models/registry"}

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
	{"C", []string{"engine/local/llamacpp"}, "everything else compiles anywhere"},
	{"github.com/ollama/ollama/llama", []string{"engine/local/llamacpp"}, "the binding could be replaced"},
	{"github.com/ebitengine/purego", []string{"engine/imagegen/sdcpp"}, "native code is called in two places, and only one of them needs a C compiler"},
	{"github.com/ollama/ollama/template", []string{"engine/chat/template"}, "Go templates are read in one place"},
	{"github.com/ollama/ollama/api", []string{"engine/chat/template"}, "it is what those templates are written for, and no part of ours"},
	{"oras.land/oras-go/v2", []string{"engine/models/registry"}, "registries are asked in one place"},
	{"github.com/spf13/cobra", []string{"cmd"}, "the command line is the programs' business"},
	{"github.com/vbauerster/mpb/v8", []string{"cmd/diglot/internal/terminal"}, "progress is shown in one place"},
	{"golang.org/x/sys/cpu", []string{"engine/local/variant"}, "the processor is asked in one place, kernels aside"},
	{"golang.org/x/term", []string{"cmd"}, "only programs of people meet a terminal"},
	{"github.com/ardanlabs/jinja", []string{"engine/chat/template", "tools"}, "templates are rendered in one place"},
	{"github.com/getkin/kin-openapi", []string{"openapi", "tools", "handlers/handlerstest"}, "the documents are read in one place"},
	{"github.com/go-chi/chi/v5", []string{"handlers", "gen"}, "routing is the handlers' business"},
	{"gonum.org/v1/plot", []string{"tools/bench/report"}, "plots are drawn by the benchmark alone"},
	{"github.com/yuin/goldmark", []string{"tools/refdocs/site"}, "pages are written when they are generated, not when they are served"},
	{module + "/handlers/handlerstest", nil, "it is for tests"},
	{module + "/engine/enginetest", nil, "it is for tests"},
	{module + "/engine/diffusion/diffusiontest", []string{"tools/miniature"}, "it is for tests"},
	{module + "/engine/chat/chattest", nil, "it is for tests"},
	{module + "/engine/chat/format/formattest", nil, "it is for tests"},
	{module + "/engine/chat/template/sandbox/librarytest", nil, "it is for tests"},
	{module + "/engine/chat/tokenizer/tokenizertest", []string{"engine/chat/chattest"}, "it is for tests"},
	{"golang.org/x/text", []string{"engine/chat/tokenizer"}, "text is what people wrote, everywhere but in a tokenizer"},
	{module + "/engine/local/inspection/inspectiontest", nil, "it is for tests"},
	{module + "/cmd", nil, "programs are not libraries"},
	{module + "/tools", []string{"tools"}, "what a developer runs is not part of the product"},
	{module + "/cassettes", []string{"tools", "cmd/diglot/internal/contract"}, "recordings are for tests, and for replays of them"},
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
			if field, ok := n.(*ast.Field); ok && field.Tag != nil && wireTag.MatchString(field.Tag.Value) {
				t.Errorf("%s: a field of a neutral type has the tag %s", f.name, field.Tag.Value)
			}
			return true
		})
	}
}

// wireTag finds the keys that encoders read.
var wireTag = regexp.MustCompile("[` ](json|yaml|xml|form|query):")

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
		f := parseSource(t, name, nil)
		p.files = append(p.files, f)
		for _, spec := range f.syntax.Imports {
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

// parseSource reads one file: text, or what is on disk where text is nil.
func parseSource(t *testing.T, name string, text any) source {
	t.Helper()
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, filepath.FromSlash(name), text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return source{name: name, folder: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		generated: ast.IsGenerated(syntax), syntax: syntax, position: set}
}

// atRoot runs the rest of a test in the root of the repository. It is not for
// TestMain: what is done there is unknown to go test, which would then look for
// changed files elsewhere and take an old result for this one.
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}

// handWritten lists the repository's files with one of the endings, leaving
// out what is downloaded or built.
func handWritten(t *testing.T, endings ...string) []string {
	t.Helper()
	atRoot(t)
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
