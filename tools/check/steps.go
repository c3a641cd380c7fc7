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

// steps are all checks, cheap ones first.
var steps = []step{
	{"format", "gofmt", format, ""},
	{"generated", "gen is up to date with the documents", generated, ""},
	{"speclint", "the documents use only keywords that are enforced", command("go", "run", "./tools/speclint"), ""},
	{"vet", "go vet", command("go", "vet", "-tags", "corpus", "./..."), ""},
	{"vetsdk", "go vet of the SDK suites, which are a module of their own", command("go", "-C", "tools/sdk", "vet", "./..."), ""},
	// Code that only the llama.cpp build uses looks unused here; staticllama checks it.
	{"static", "staticcheck", command("go", "tool", "-modfile=tools/tools.mod", "staticcheck", "-checks", "inherit,-U1000", "./..."), ""},
	{"deploy", "linters of the files in tools/deploy", deployFiles, ""},
	// Tests of engine/models/registry would build it too, which would count as their time.
	{"registry", "build of the OCI registry for tests", command("go", "tool", "-modfile=tools/tools.mod", "-n", "registry"), "go"},
	{"test", "Go tests that gain nothing from the race detector: without concurrency, of memory use, of the conformance kit", goTests, "go"},
	{"race", "all other Go tests without llama.cpp, with the race detector if there is a C compiler", goRaces, "go"},
	{"testsdk", "recorded replies against the types of the Python, Node and Go SDKs; tests of the recording proxy", testSDK, "clients"},
	{"ci", "linters and examples of tools/deploy/ci, against diglot replay", ciFiles, "clients"},
	{"sdk", "the vendors' SDKs for Python, Node and Go against the server, playing a script", suites("python", "node", "go"), "clients"},
	{"frameworks", "frameworks built on the SDKs, the same way", suites("frameworks", "langchain", "litellm", "pydanticai", "instructor"), "clients"},
	{"agents", "small tasks of coding agents, the same way", suites("agents"), "clients"},
	{"browser", "the pages in headless Chromium, over a script", pages, "clients"},
	{"examples", "the code of every page of the reference, against diglot replay", suites("examples"), "clients"},
	{"variants", "our C and C++ compile for each processor that releases are for", releases, ""},
	{"vetllama", "go vet with llama.cpp", command("go", "run", "./tools/build", "go", "vet", "-tags", "llamacpp", "./engine/local/llamacpp/...", "./cmd/..."), ""},
	{"staticllama", "staticcheck with llama.cpp", command("go", "run", "./tools/build", "go", "tool", "-modfile=tools/tools.mod", "staticcheck", "-tags", "llamacpp", "./..."), ""},
	{"llama", "tests of the llama.cpp engine on real models", llamaTests, ""},
	{"neon", "tests of the kernels for arm64, in an emulator, if it and a compiler are there", neon, ""},
	{"verify", "diglot verify against this server over two real models, with all scenarios in both profiles", verify, ""},
	{"peers", "engine/upstream against a real llama-server, if there is one", peers, ""},
	{"sdkreal", "the same SDKs against a real model", sdkOverModel, ""},
	{"paths", "end-to-end scripts of a user's commands", paths, ""},
	{"sdkvision", "the same SDKs against a real vision model", sdkOverVision, ""},
	{"images", "tests of the image engine and the vendors' SDKs over it, if it is built", images, ""},
}

// longSteps run only if they are named: make test-long.
var longSteps = []step{
	{"fuzz", "fuzzing of whole requests over the real grammar, template and tokenizer, two minutes per operation", fuzz, ""},
	{"imagemutants", "two hundred broken image models, through the whole path to the image engine", imageMutants, ""},
	{"equal", "texts, perplexities and replies are equal in every way of computing them, over three models and hundreds of prompts", equal, ""},
	{"soak", "sixteen clients and a runner that is killed repeatedly, for ten minutes", soak, ""},
}

// testModel is the default model of tests.
const testModel = "smollm2-135m"

// testSentencePiece is a model with a SentencePiece vocabulary.
const testSentencePiece = "gemma3-270m"

// testEncoder is an embedding model.
const testEncoder = "minilm"

// visionModel is the smallest model that works with the projector of tools/projector.
const visionModel = "qwen2.5-coder-0.5b"

// command returns a step that passes if a command does.
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
		return tally{}, errors.New("these files are not formatted; run gofmt -w")
	}
	return tally{}, nil
}

func testSDK(ctx context.Context, out io.Writer) (tally, error) {
	// The test cache does not know what the SDKs' programs read.
	return countTests(ctx, out, nil, []string{"go", "-C", "tools/sdk", "test", "-count=1", "-json", "./..."})
}

func releases(ctx context.Context, out io.Writer) (tally, error) {
	return countLine(ctx, out, "go", "run", "./tools/release", "-check")
}

// suites returns a step that runs suites of tools/sdk over the script.
func suites(names ...string) func(context.Context, io.Writer) (tally, error) {
	return func(ctx context.Context, out io.Writer) (tally, error) {
		return countLine(ctx, out, "go", append([]string{"-C", "tools/sdk", "run", "."}, names...)...)
	}
}

func pages(ctx context.Context, out io.Writer) (tally, error) {
	return countLine(ctx, out, "go", "run", "./tools/browser")
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

// sdkOver runs the suites over the given --model.
func sdkOver(ctx context.Context, out io.Writer, model string) (tally, error) {
	if err := execute(ctx, out, nil, "go", "run", "./tools/build"); err != nil {
		return tally{}, err
	}
	return countLine(ctx, out, "go", "-C", "tools/sdk", "run", ".", "-model", model)
}

// fetchVision returns the paths of the vision model and of its projector, which it
// generates.
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

// countLine runs a command and reads its counts from the line "N passed, N failed"
// or "N passed, N failed, N skipped".
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
