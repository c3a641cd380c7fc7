package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// packageTests are the tests of some packages, as one step runs them.
type packageTests struct {
	tags     string
	run      string   // a pattern of names, or empty for all
	skip     string   // one of names that are left out
	packages []string // patterns
	except   []string // folders that the patterns match too, and that are left out
}

// serial are the folders whose packages do one thing after the other, in their
// tests too: the race detector would find nothing there, and takes ten times
// as long.
var serial = []string{
	"tools/rules", "cassettes", "engine/chat/chattest", "engine/chat/format", "engine/chat/format/formattest", "engine/gguf", "engine/chat/grammar", "engine/local/inspection",
	"engine/local/inspection/inspectiontest", "engine/local/memory", "engine/models/modelfile", "engine/picture",
	"engine/chat/tokenizer", "engine/chat/tokenizer/tokenizertest", "openapi", "openapi/conformance",
}

// rendering are the folders whose tests render the templates of real models, or
// hostile ones: with the race detector some of them are left out.
var rendering = []string{"engine/chat", "engine/chat/template", "engine/chat/template/sandbox"}

// What the steps test, race and llama run, and with others peers. SECURITY.md
// names tests of theirs alone.
var (
	plainTests = []packageTests{
		{tags: "corpus", packages: append(folders(serial), folders(rendering)...)},
		// These count memory to the byte: their files leave themselves out
		// under the race detector, which takes memory of its own.
		{tags: "corpus", run: memoryNames, packages: []string{"./handlers"}},
		{run: "^Test(LargeReplies|LargeVectorsAndPictures|FrameWeight|LiesTakeNoMemory)$", packages: []string{"./engine/local/runner"}},
	}
	raceTests = []packageTests{
		{packages: []string{"./..."}, except: slices.Concat(rendering, serial)},
		{packages: folders(rendering), skip: "^Test(GoTemplateLimits|HostileCalls|HostileGoCalls|ControlTokens|Bottomless)$"},
		{packages: []string{"./engine/chat/grammar"}, run: "^TestGate$"},
	}
	modelTests = []packageTests{{tags: "llamacpp", packages: []string{"./engine/local/llamacpp/...", "./cmd/..."}}}
)

// memoryNames are the names of tests that the race detector would change.
const memoryNames = "^TestMemory"

// folders are patterns of the packages in folders.
func folders(names []string) []string {
	var patterns []string
	for _, name := range names {
		patterns = append(patterns, "./"+name)
	}
	return patterns
}

// arguments are those of go test. A package may take longer than the ten
// minutes that go test gives it where other programs need the processor too.
func (p packageTests) arguments(ctx context.Context) ([]string, error) {
	args := []string{"-tags", p.tags, "-timeout", "30m"}
	if p.run != "" {
		args = append(args, "-run", p.run)
	}
	if p.skip != "" {
		args = append(args, "-skip", p.skip)
	}
	if len(p.except) == 0 {
		return append(args, p.packages...), nil
	}
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-f", "{{.ImportPath}} {{.Module.Path}}"}, p.packages...)...)
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		name, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		folder := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(name, module), "/"), ".")
		if !slices.Contains(p.except, folder) {
			args = append(args, name)
		}
	}
	return args, nil
}

// goTests runs the tests that the race detector has nothing to look for in, those
// on the chat templates of real models among them.
func goTests(ctx context.Context, out io.Writer) (tally, error) {
	if err := execute(ctx, out, nil, "go", "run", "./tools/templates"); err != nil {
		return tally{}, err
	}
	return countAll(ctx, out, nil, []string{"go", "test", "-json"}, plainTests)
}

// goRaces runs all other tests of the main module that need no llama.cpp. The
// race detector needs the C runtime, not llama.cpp.
func goRaces(ctx context.Context, out io.Writer) (tally, error) {
	if _, err := exec.LookPath("cc"); err != nil {
		fmt.Fprintln(out, note+"no C compiler: the tests ran without the race detector")
		return countAll(ctx, out, nil, []string{"go", "test", "-json"}, raceTests)
	}
	return countAll(ctx, out, []string{"CGO_ENABLED=1"}, []string{"go", "test", "-json", "-race"}, raceTests)
}

// countAll runs tests with a command to which their arguments are added.
func countAll(ctx context.Context, out io.Writer, env, command []string, tests []packageTests) (tally, error) {
	var total tally
	var errs []error
	for _, p := range tests {
		args, err := p.arguments(ctx)
		if err == nil {
			var count tally
			count, err = countTests(ctx, out, env, append(command[:len(command):len(command)], args...))
			total.add(count)
		}
		errs = append(errs, err)
	}
	return total, errors.Join(errs...)
}

// llamaTests runs the tests behind the tag llamacpp.
func llamaTests(ctx context.Context, out io.Writer) (tally, error) {
	if err := fetchForModelTests(ctx, out); err != nil {
		return tally{}, err
	}
	return countAll(ctx, out, nil, []string{"go", "run", "./tools/build", "go", "test", "-json"}, modelTests)
}

// fetchForModelTests puts models and templates where the tests behind the tag
// llamacpp look for them; they fail without.
func fetchForModelTests(ctx context.Context, out io.Writer) error {
	if err := execute(ctx, out, nil, "go", "run", "./tools/templates"); err != nil {
		return err
	}
	for _, name := range []string{testModel, testEncoder, testSentencePiece} {
		if _, err := fetchModel(ctx, out, name); err != nil {
			return err
		}
	}
	_, _, err := fetchVision(ctx, out)
	return err
}

// countTests runs a command that prints the events of go test -json. It
// writes what failed tests printed, and why others were skipped.
func countTests(ctx context.Context, out io.Writer, env, args []string) (tally, error) {
	read, write := io.Pipe()
	done := make(chan tally)
	go func() { done <- readTests(read, out) }()
	err := execute(ctx, write, env, args[0], args[1:]...)
	write.Close()
	return <-done, err
}

// event is what go test -json prints, one per line.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build, in place of Package
	Test       string
	Output     string
}

// readTests counts finished tests, subtests included, and copies the output
// of those that did not pass. A package that fails without a failed test, by
// not compiling for one, counts as one failure.
func readTests(events io.Reader, out io.Writer) tally {
	var count tally
	said := map[string]*strings.Builder{}
	failedIn := map[string]bool{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(out, lines.Text()) // what other tools print on the same stream
			continue
		}
		key := e.Package + e.ImportPath + " " + e.Test
		switch {
		case strings.HasSuffix(e.Action, "output"):
			if said[key] == nil {
				said[key] = &strings.Builder{}
			}
			said[key].WriteString(e.Output)
		case e.Action == "build-fail":
			show(out, said[key])
			delete(said, key)
		case e.Action == "fail" && (e.Test != "" || !failedIn[e.Package]):
			failedIn[e.Package] = true
			count.failed++
			show(out, said[key])
		case e.Action == "skip" && e.Test != "":
			count.skipped++
			show(out, said[key])
		case e.Action == "pass" && e.Test != "":
			count.passed++
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(said, key)
		}
	}
	return count
}

func show(out io.Writer, said *strings.Builder) {
	if said != nil {
		io.WriteString(out, said.String())
	}
}
