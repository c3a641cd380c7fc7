package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// imageTests need the image engine, which takes long to build.
var imageTests = []packageTests{
	{tags: "imagegen", packages: []string{"./engine/imagegen/sdcpp"}},
	{tags: "imagegen", run: "^TestImage", packages: []string{"./cmd/diglot"}},
}

// images runs them, and the vendors' SDKs over the engine, if that is there, and
// otherwise only looks whether they compile.
func images(ctx context.Context, out io.Writer) (tally, error) {
	if err := execute(ctx, out, nil, "go", "vet", "-tags", "imagegen", "./engine/imagegen/sdcpp", "./cmd/diglot"); err != nil {
		return tally{}, err
	}
	if !hasImageEngine(ctx) {
		fmt.Fprintln(out, note+"the image engine is not built here, and was not tested; run: make imagegen")
		return tally{}, nil
	}
	total, failure := countAll(ctx, out, nil, []string{"go", "test", "-json"}, imageTests)
	clients, err := countLine(ctx, out, "go", "-C", "tools/sdk", "run", ".", "-images")
	total.add(clients)
	return total, errors.Join(failure, err)
}

// imageMutants runs the test of broken image models with more of them.
func imageMutants(ctx context.Context, out io.Writer) (tally, error) {
	if !hasImageEngine(ctx) {
		fmt.Fprintln(out, note+"the image engine is not built here; run: make imagegen")
		return tally{}, nil
	}
	return countTests(ctx, out, nil, []string{"go", "test", "-json", "-tags", "imagegen", "-run", "^TestImageMutants$", "-timeout", "60m",
		"./cmd/diglot", "-imagemutants.count", "200"})
}

func hasImageEngine(ctx context.Context) bool {
	return execute(ctx, io.Discard, nil, "go", "run", "./tools/imagegen", "-n") == nil
}

// imageEngine is the step that builds the image engine.
var imageEngine = step{"imagegen", "build of the image engine, unless it is in the cache; only with -imagegen", buildImageEngine, ""}

func buildImageEngine(ctx context.Context, out io.Writer) (tally, error) {
	if hasImageEngine(ctx) {
		fmt.Fprintln(out, note+"the image engine is in the cache, and was not built")
		return tally{}, nil
	}
	return tally{}, execute(ctx, out, nil, "go", "run", "./tools/imagegen")
}

// withImageEngine inserts the build before the step that needs it, which is late: what
// fails early is then known early.
func withImageEngine(all []step) []step {
	i := slices.IndexFunc(all, func(s step) bool { return s.name == "images" })
	return slices.Insert(slices.Clone(all), i, imageEngine)
}
