package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// steps is everything there is to check, cheap things first.
var steps = []step{
	{"format", "every Go file is as gofmt writes it", format},
	{"generated", "gen is what the documents say", generated},
	{"speclint", "the documents keep to the keywords that are enforced", command("go", "run", "./tools/speclint")},
	{"vet", "go vet", command("go", "vet", "-tags", "corpus", "./...")},
	{"vetsdk", "go vet of the SDK suites, a module of their own", command("go", "-C", "tools/sdk", "vet", "./...")},
	// What only the llama.cpp build uses is found unused here; staticllama looks again.
	{"static", "staticcheck", command("go", "tool", "-modfile=tools/tools.mod", "staticcheck", "-checks", "inherit,-U1000", "./...")},
	{"deploy", "the files in tools/deploy, each with its linter", deployFiles},
	// A test of engine/models/registry would build it too, but its minutes would look like the test's.
	{"registry", "the registry program that tests pull from and push to", command("go", "tool", "-modfile=tools/tools.mod", "-n", "registry")},
	{"test", "Go tests of what does one thing after the other, and of what memory is taken", goTests},
	{"race", "all other Go tests that need no cgo, with the race detector where a C compiler is at hand", goRaces},
	{"testsdk", "recorded replies are what the vendors' SDKs for Python, Node and Go say by their types; tests of the recording proxy", testSDK},
	{"vetllama", "go vet of what needs llama.cpp", command("go", "run", "./tools/build", "go", "vet", "-tags", "llamacpp", "./engine/local/llamacpp/...", "./cmd/...")},
	{"staticllama", "staticcheck of everything as it is with llama.cpp", command("go", "run", "./tools/build", "go", "tool", "-modfile=tools/tools.mod", "staticcheck", "-tags", "llamacpp", "./...")},
	{"llama", "tests of the llama.cpp engine, on a real model", llamaTests},
	{"peers", "models served elsewhere, by a real llama-server where there is one", peers},
	{"sdk", "the vendors' SDKs for Python, Node and Go against the server, playing a script", suites("python", "node", "go")},
	{"frameworks", "frameworks built on them, the same way", suites("frameworks", "langchain", "litellm", "pydanticai", "instructor")},
	{"agents", "coding agents do small tasks through the server, the same way", suites("agents")},
	{"sdkreal", "the same SDKs against a real model", sdkOverModel},
	{"paths", "what a user does with the program, from the first command to the answer", paths},
	{"sdkvision", "the same SDKs against a real model that sees colours", sdkOverVision},
}

// longSteps run only where they are named: make test-long.
var longSteps = []step{
	{"fuzz", "whole requests over the real grammar, template and tokenizer, two minutes for each operation", fuzz},
	{"soak", "sixteen clients and a model whose process is killed again and again, for ten minutes", soak},
}

// testModel is the model that real tests run on.
const testModel = "smollm2-135m"

// testSentencePiece has a vocabulary of that kind.
const testSentencePiece = "gemma3-270m"

// testEncoder is for embeddings alone.
const testEncoder = "minilm"

// visionModel is the smallest that names what a made projector shows it.
const visionModel = "qwen2.5-coder-0.5b"

// command is a step that passes when a command does.
func command(name string, args ...string) func(context.Context, io.Writer) (tally, error) {
	return func(ctx context.Context, out io.Writer) (tally, error) {
		return tally{}, execute(ctx, out, nil, name, args...)
	}
}

// execute runs a command without cgo, unless env says otherwise.
func execute(ctx context.Context, out io.Writer, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

func format(ctx context.Context, out io.Writer) (tally, error) {
	var names strings.Builder
	if err := execute(ctx, &names, nil, "gofmt", "-l", "."); err != nil {
		return tally{}, err
	}
	if names.Len() > 0 {
		fmt.Fprint(out, names.String())
		return tally{}, errors.New("these files are not formatted; gofmt -w writes them")
	}
	return tally{}, nil
}

func testSDK(ctx context.Context, out io.Writer) (tally, error) {
	// What the SDKs' programs read is unknown to the cache of results.
	return countTests(ctx, out, nil, []string{"go", "-C", "tools/sdk", "test", "-count=1", "-json", "./..."})
}

// suites is a step that runs these suites of tools/sdk over a script.
func suites(names ...string) func(context.Context, io.Writer) (tally, error) {
	return func(ctx context.Context, out io.Writer) (tally, error) {
		return countLine(ctx, out, "go", append([]string{"-C", "tools/sdk", "run", "."}, names...)...)
	}
}

func sdkOverModel(ctx context.Context, out io.Writer) (tally, error) {
	file, err := fetchModel(ctx, out, testModel)
	if err != nil {
		return tally{}, err
	}
	return sdkOver(ctx, out, testModel+"="+file)
}

func sdkOverVision(ctx context.Context, out io.Writer) (tally, error) {
	file, projector, err := fetchVision(ctx, out)
	if err != nil {
		return tally{}, err
	}
	return sdkOver(ctx, out, visionModel+"="+file+","+projector)
}

// sdkOver runs the suites over what --model says.
func sdkOver(ctx context.Context, out io.Writer, model string) (tally, error) {
	if err := execute(ctx, out, nil, "go", "run", "./tools/build"); err != nil {
		return tally{}, err
	}
	return countLine(ctx, out, "go", "-C", "tools/sdk", "run", ".", "-model", model)
}

// fetchVision returns the paths of the vision model's file and of its
// projector, which is made beside it.
func fetchVision(ctx context.Context, out io.Writer) (file, projector string, err error) {
	if file, err = fetchModel(ctx, out, visionModel); err != nil {
		return "", "", err
	}
	projector = strings.TrimSuffix(file, ".gguf") + "-colours.gguf"
	return file, projector, execute(ctx, out, nil, "go", "run", "./tools/projector", file, projector)
}

// fetchModel returns the path of a model's file.
func fetchModel(ctx context.Context, out io.Writer, name string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "run", "./tools/fetch", name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = out
	path, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("fetching %s: %w", name, err)
	}
	return strings.TrimSpace(string(path)), nil
}

// countLine runs a command whose output has a line "N passed, N failed", with
// ", N skipped" where there are some, and takes its counts from there.
func countLine(ctx context.Context, out io.Writer, name string, args ...string) (tally, error) {
	var said strings.Builder
	err := execute(ctx, io.MultiWriter(out, &said), nil, name, args...)
	var count tally
	found := false
	for line := range strings.Lines(said.String()) {
		var t tally
		if n, _ := fmt.Sscanf(line, "%d passed, %d failed, %d skipped", &t.passed, &t.failed, &t.skipped); n >= 2 {
			count, found = t, true
		}
	}
	if err == nil && !found {
		err = fmt.Errorf("%s printed no counts", name)
	}
	return count, err
}
