package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
)

// fuzzFile has the targets of the step fuzz.
const fuzzFile = "engine/local/llamacpp/whole_fuzz_test.go"

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// fuzz runs each target for a while. It writes failing inputs to the package's
// testdata, where they are to be committed.
func fuzz(ctx context.Context, out io.Writer) (tally, error) {
	if err := fetchForModelTests(ctx, out); err != nil {
		return tally{}, err
	}
	text, err := os.ReadFile(fuzzFile)
	if err != nil {
		return tally{}, err
	}
	var count tally
	for _, target := range fuzzTarget.FindAllStringSubmatch(string(text), -1) {
		// Minimizing inputs would otherwise take all the time.
		err := execute(ctx, out, nil, "go", "run", "./tools/build", "go", "test", "-tags", modelTests[0].tags, "./engine/local/llamacpp",
			"-run", "^$", "-fuzz", "^"+target[1]+"$", "-fuzztime", "2m", "-fuzzminimizetime", "20x")
		if err != nil {
			fmt.Fprintln(out, err)
			count.failed++
			continue
		}
		count.passed++
	}
	if count == (tally{}) {
		return count, errors.New("no fuzz targets in " + fuzzFile)
	}
	return count, nil
}

// equal runs the tests that compare results, which are in the step llama too, with more
// prompts and models.
func equal(ctx context.Context, out io.Writer) (tally, error) {
	if err := fetchForModelTests(ctx, out); err != nil {
		return tally{}, err
	}
	return countTests(ctx, out, nil, []string{"go", "run", "./tools/build", "go", "test", "-json", "-tags", modelTests[0].tags,
		"-timeout", "2h", "./engine/local/llamacpp", "-run", "^Test(SameText|Perplexity)$", "-long"})
}

// soak is a long run of TestSoak, which the step llama runs for a minute.
func soak(ctx context.Context, out io.Writer) (tally, error) {
	if err := fetchForModelTests(ctx, out); err != nil {
		return tally{}, err
	}
	return countTests(ctx, out, nil, []string{"go", "run", "./tools/build", "go", "test", "-json", "-tags", modelTests[0].tags,
		"-timeout", "30m", "./cmd/diglot", "-run", "^TestSoak$", "-soak", "10m"})
}
