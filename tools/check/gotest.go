package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// packageTests are the tests of some packages, as one step runs them.
type packageTests struct {
	tags     string
	run      string // a pattern of names, or empty for all
	packages []string
}

// What the steps test, memory and llama run. SECURITY.md names tests of theirs
// alone.
var (
	plainTests  = packageTests{tags: "corpus", packages: []string{"./..."}}
	memoryTests = packageTests{tags: "corpus", run: "^TestMemory", packages: []string{"./engine/chat", "./handlers"}}
	modelTests  = packageTests{tags: "llamacpp", packages: []string{"./engine/llamacpp/...", "./cmd/..."}}
)

// arguments are those of go test. A package may take longer than the ten
// minutes that go test gives it where other programs need the processor too.
func (p packageTests) arguments() []string {
	args := []string{"-tags", p.tags, "-timeout", "30m"}
	if p.run != "" {
		args = append(args, "-run", p.run)
	}
	return append(args, p.packages...)
}

// weigh runs the tests that count memory to the byte. Their files leave
// themselves out under the race detector, which takes memory of its own.
func weigh(ctx context.Context, out io.Writer) (tally, error) {
	return countTests(ctx, out, nil, append([]string{"go", "test", "-json"}, memoryTests.arguments()...))
}

// goTests runs all tests of the main module that need no llama.cpp, those on
// the chat templates of real models included. The race detector needs the C
// runtime, not llama.cpp.
func goTests(ctx context.Context, out io.Writer) (tally, error) {
	if err := execute(ctx, out, nil, "go", "run", "./tools/templates"); err != nil {
		return tally{}, err
	}
	args := append([]string{"go", "test", "-json"}, plainTests.arguments()...)
	if _, err := exec.LookPath("cc"); err != nil {
		fmt.Fprintln(out, note+"no C compiler: the tests ran without the race detector")
		return countTests(ctx, out, nil, args)
	}
	args = append(args[:2:2], append([]string{"-race"}, args[2:]...)...)
	return countTests(ctx, out, []string{"CGO_ENABLED=1"}, args)
}

// llamaTests runs the tests behind the tag llamacpp.
func llamaTests(ctx context.Context, out io.Writer) (tally, error) {
	if err := fetchForModelTests(ctx, out); err != nil {
		return tally{}, err
	}
	return countTests(ctx, out, nil, append([]string{"go", "run", "./tools/build", "go", "test", "-json"}, modelTests.arguments()...))
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
