package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
)

// registryProgram is the OCI registry of the paths.
const registryProgram = "github.com/distribution/distribution/v3/cmd/registry"

// paths runs the end-to-end scripts in tools/paths.
func paths(ctx context.Context, out io.Writer) (tally, error) {
	model, err := fetchModel(ctx, out, testModel)
	if err != nil {
		return tally{}, err
	}
	cache, err := filepath.Abs(".cache")
	if err != nil {
		return tally{}, err
	}
	registry, python := filepath.Join(cache, "registry"), filepath.Join(cache, "sdk-python")
	for _, command := range [][]string{
		{"go", "run", "./tools/build"},
		{"go", "build", "-modfile=tools/tools.mod", "-o", registry, registryProgram},
		{"python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore",
			"--upgrade", "--target", python, "-r", "tools/sdk/python/requirements.txt"},
	} {
		if err := execute(ctx, out, nil, command[0], command[1:]...); err != nil {
			return tally{}, err
		}
	}
	program, err := filepath.Abs("bin/diglot")
	if err != nil {
		return tally{}, err
	}
	env := []string{"DIGLOT=" + program, "MODEL=" + model, "REGISTRY=" + registry, "PYTHON=python3", "PYTHONPATH=" + python}
	var count tally
	for _, name := range []string{"pull", "alias", "context"} {
		if err := execute(ctx, out, env, "bash", "tools/paths/"+name+".sh"); err != nil {
			fmt.Fprintln(out, err)
			count.failed++
			continue
		}
		count.passed++
	}
	return count, nil
}
