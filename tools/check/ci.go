package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// schemaCheck has the schemas of workflow actions and of GitLab's pipelines.
const schemaCheck = "check-jsonschema==0.39.0"

// ciFiles lints the files in tools/deploy/ci, and runs its examples against diglot replay.
func ciFiles(ctx context.Context, out io.Writer) (tally, error) {
	folder, err := filepath.Abs(".cache/ci")
	if err != nil {
		return tally{}, err
	}
	const source = "tools/deploy/ci"
	program := filepath.Join(folder, "diglot")
	if err := execute(ctx, out, nil, "go", "build", "-o", program, "./cmd/diglot"); err != nil {
		return tally{}, err
	}
	packages, err := requirements(filepath.Join(source, "pytest/requirements.txt"))
	if err != nil {
		return tally{}, err
	}
	packages = append(packages, schemaCheck)
	libraries := filepath.Join(folder, "python")
	if !installed(libraries, packages) {
		install := append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--target", libraries}, packages...)
		if err := execute(ctx, out, nil, "python3", install...); err != nil {
			return tally{}, err
		}
	}
	node := filepath.Join(folder, "vitest")
	if err := npmInstall(ctx, out, filepath.Join(source, "vitest"), node); err != nil {
		return tally{}, err
	}
	env := []string{"PYTHONPATH=" + libraries, "DIGLOT=" + program, "PYTHONDONTWRITEBYTECODE=1"}
	lint := filepath.Join(libraries, "bin/check-jsonschema")
	var count tally
	for _, args := range [][]string{
		{lint, "--builtin-schema", "vendor.github-actions", source + "/action.yml"},
		{lint, "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", source + "/gitlab.yml"},
		{"python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", source + "/pytest"},
		{"npm", "--prefix", node, "test"},
	} {
		if err := execute(ctx, out, env, args[0], args[1:]...); err != nil {
			io.WriteString(out, err.Error()+"\n")
			count.failed++
			continue
		}
		count.passed++
	}
	return count, nil
}

// requirements lists the packages of a file of pip's.
func requirements(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	return strings.Fields(string(text)), err
}

// npmInstall copies a package to a folder, so that none of its dependencies is in the
// repository, and installs those. They stay until the package changes.
func npmInstall(ctx context.Context, out io.Writer, from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.js*"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	changed := false
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		copied := filepath.Join(to, filepath.Base(file))
		old, _ := os.ReadFile(copied) // absent: it is new
		if string(old) == string(text) {
			continue
		}
		changed = changed || filepath.Base(file) == "package.json"
		if err := os.WriteFile(copied, text, 0o644); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(to, "node_modules/vitest")); err == nil && !changed {
		return nil
	}
	return execute(ctx, out, nil, "npm", "--prefix", to, "install", "--no-audit", "--no-fund", "--loglevel=error")
}
