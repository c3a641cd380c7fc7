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

// packageTests selects tests of some packages for one step.
type packageTests struct {
	tags     string
	run      string   // pattern of names; empty: all
	skip     string   // pattern of names to skip
	packages []string // package patterns
	except   []string // folders to exclude from packages
}

// serial are the folders without concurrency, also in tests: the race detector
// would find nothing there and take ten times as long.
var serial = []string{
	"tools/rules", "cassettes", "engine/chat/chattest", "engine/chat/format", "engine/chat/format/formattest", "engine/gguf", "engine/chat/grammar", "engine/local/inspection",
	"engine/local/inspection/inspectiontest", "engine/local/memory", "engine/models/modelfile", "engine/picture",
	"engine/chat/tokenizer", "engine/chat/tokenizer/tokenizertest", "openapi", "openapi/conformance",
}

// kit are the folders whose tests send thousands of requests to a server of the same
// process. Tests of handlers have the race detector look at that server.
var kit = []string{
	"openapi/conformance/media", "openapi/conformance/protocol", "openapi/conformance/report", "openapi/conformance/scenario", "openapi/conformance/structure",
	"cmd/diglot/internal/contract",
}

// kitTests are the slow ones of cmd/diglot/internal/contract.
const kitTests = "^Test(Faults|NoFault)$"

// rendering are the folders whose tests render real or hostile templates. Some
// are skipped under the race detector.
var rendering = []string{"engine/chat", "engine/chat/template", "engine/chat/template/sandbox"}

// The tests of the steps test, race, llama and peers. SECURITY.md may name only
// tests of these.
var (
	plainTests = []packageTests{
		{tags: "corpus", packages: append(folders(serial), folders(rendering)...)},
		{packages: folders(kit)},
		// These measure memory exactly, so their build tags exclude the race
		// detector, which allocates.
		{tags: "corpus", run: memoryNames, packages: []string{"./handlers"}},
		{run: "^Test(LargeReplies|LargeVectorsAndPictures|FrameWeight|LiesTakeNoMemory)$", packages: []string{"./engine/local/runner"}},
	}
	raceTests = []packageTests{
		{packages: []string{"./..."}, except: slices.Concat(rendering, serial, kit)},
		{packages: []string{"./cmd/diglot/internal/contract"}, skip: kitTests},
		{packages: folders(rendering), skip: "^Test(GoTemplateLimits|HostileCalls|HostileGoCalls|ControlTokens|Bottomless)$"},
		{packages: []string{"./engine/chat/grammar"}, run: "^TestGate$"},
	}
	modelTests = []packageTests{{tags: "llamacpp", packages: []string{"./engine/local/llamacpp/...", "./cmd/diglot"}}}
)

// memoryNames matches tests that measure memory.
const memoryNames = "^TestMemory"

// folders returns package patterns for folders.
func folders(names []string) []string {
	var patterns []string
	for _, name := range names {
		patterns = append(patterns, "./"+name)
	}
	return patterns
}

// arguments returns the arguments of go test. On a busy machine a package may
// exceed the default timeout of ten minutes.
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

// goTests runs the tests that gain nothing from the race detector, including those
// on real chat templates.
func goTests(ctx context.Context, out io.Writer) (tally, error) {
	if err := execute(ctx, out, nil, "go", "run", "./tools/templates"); err != nil {
		return tally{}, err
	}
	return countAll(ctx, out, nil, []string{"go", "test", "-json"}, plainTests)
}

// goRaces runs the other tests of the main module that need no llama.cpp. The race
// detector itself needs cgo.
func goRaces(ctx context.Context, out io.Writer) (tally, error) {
	if _, err := exec.LookPath("cc"); err != nil {
		fmt.Fprintln(out, note+"no C compiler: the tests ran without the race detector")
		return countAll(ctx, out, nil, []string{"go", "test", "-json"}, raceTests)
	}
	return countAll(ctx, out, []string{"CGO_ENABLED=1"}, []string{"go", "test", "-json", "-race"}, raceTests)
}

// countAll runs tests with the given command prefix.
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

// fetchForModelTests fetches the models and templates that the tests behind the
// tag llamacpp require.
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

// countTests runs a command that prints the events of go test -json. It prints the
// output of failed tests and the reasons of skipped ones.
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
	ImportPath string // of a build, instead of Package
	Test       string
	Output     string
}

// readTests counts tests, including subtests, and copies the output of those that
// did not pass. A package that fails without a failed test, for example because it
// does not compile, counts as one failure.
func readTests(events io.Reader, out io.Writer) tally {
	var count tally
	said := map[string]*strings.Builder{}
	failedIn := map[string]bool{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(out, lines.Text()) // output of other tools
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
