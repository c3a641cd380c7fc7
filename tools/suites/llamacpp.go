package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// llamaPackage is the Python package whose sources carry llama.cpp with its tests.
const llamaPackage = "llama_cpp_python-0.3.36"

// The folders of our files and of theirs.
const (
	llamaFolder = "tools/suites/llamacpp"
	serverTests = llamaPackage + "/vendor/llama.cpp/tools/server/tests"
)

// llamaModels are our models, by the name under which the tests ask a hub for theirs.
var llamaModels = map[string]string{
	"ggml-org/test-model-stories260K":                    "smollm2-135m",
	"ggml-org/models/bert-bge-small/ggml-model-f16.gguf": "minilm",
}

//go:embed llamacpp/list.yaml
var llamaList []byte

// exceptions say which tests and assertions do not apply, and why.
type exceptions struct {
	Tests []struct {
		Test   string `yaml:"test" json:"test"` // file::name; * stands for any characters
		Reason string `yaml:"reason" json:"reason"`
	} `yaml:"tests" json:"tests"`
	Assertions []struct {
		Matches string `yaml:"matches" json:"matches"` // regular expression
		In      string `yaml:"in" json:"in"`           // tests; empty: all
		Reason  string `yaml:"reason" json:"reason"`
	} `yaml:"assertions" json:"assertions"`
}

func parseExceptions(text []byte) (exceptions, error) {
	var e exceptions
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&e); err != nil {
		return e, err
	}
	for _, t := range e.Tests {
		if len(strings.Fields(t.Reason)) < 3 {
			return e, fmt.Errorf("%s: there is no reason", t.Test)
		}
	}
	for _, a := range e.Assertions {
		if len(strings.Fields(a.Reason)) < 3 {
			return e, fmt.Errorf("%s: there is no reason", a.Matches)
		}
	}
	return e, nil
}

// llamaCpp runs the tests of llama.cpp's server that need no large model.
func llamaCpp(ctx context.Context, out io.Writer) (tally, error) {
	list, err := parseExceptions(llamaList)
	if err != nil {
		return tally{}, fmt.Errorf("list.yaml: %w", err)
	}
	packages, err := installPython(ctx, out, llamaFolder)
	if err != nil {
		return tally{}, err
	}
	folder, err := filepath.Abs(".cache/llamacpp-server")
	if err != nil {
		return tally{}, err
	}
	if err := fetchLlama(ctx, folder); err != nil {
		return tally{}, err
	}
	listFile := filepath.Join(folder, "list.json")
	text, err := json.Marshal(list)
	if err != nil {
		return tally{}, err
	}
	if err := os.WriteFile(listFile, text, 0o644); err != nil {
		return tally{}, err
	}
	tests := filepath.Join(folder, "tests")
	unused, err := output(ctx, nil, "python3", llamaFolder+"/adapt.py", filepath.Join(folder, serverTests), tests, listFile)
	if err != nil {
		return tally{}, err
	}
	env, err := llamaEnvironment(ctx, packages, folder, listFile)
	if err != nil {
		return tally{}, err
	}
	cmd := exec.CommandContext(ctx, "python3", "-m", "pytest", "-p", "diglot_server", "-p", "no:cacheprovider", "-q", "-m", "not slow", "unit")
	cmd.Dir, cmd.Env = tests, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	ran := cmd.Run() // it fails if a test does
	return llamaResults(out, filepath.Join(folder, "results.json"), lines(unused), ran)
}

// llamaResults reads what the plugin wrote, and counts.
func llamaResults(out io.Writer, file string, unused []string, ran error) (tally, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return tally{}, errors.Join(ran, err)
	}
	var results struct {
		Passed  []string          `json:"passed"`
		Failed  map[string]string `json:"failed"`
		Skipped []string          `json:"skipped"`
		Unused  []string          `json:"unused"`
	}
	if err := json.Unmarshal(text, &results); err != nil {
		return tally{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(results.Failed)) {
		fmt.Fprintf(out, "FAIL %s\n%s\n", name, results.Failed[name])
	}
	unused = append(unused, results.Unused...)
	for _, entry := range unused {
		fmt.Fprintf(out, "FAIL list.yaml: nothing matches %s\n", entry)
	}
	fmt.Fprintf(out, "llamacpp: %d tests do not apply\n", len(results.Skipped))
	return tally{passed: len(results.Passed), failed: len(results.Failed) + len(unused)}, nil
}

// fetchLlama fetches the tests once.
func fetchLlama(ctx context.Context, folder string) error {
	if _, err := os.Stat(filepath.Join(folder, serverTests)); err == nil {
		return nil
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	name, version, _ := strings.Cut(llamaPackage, "-")
	name = strings.ReplaceAll(name, "_", "-")
	if _, err := output(ctx, nil, "python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
		"--no-binary", name, "--dest", folder, name+"=="+version); err != nil {
		return err
	}
	_, err := output(ctx, nil, "tar", "-xzf", filepath.Join(folder, llamaPackage+".tar.gz"), "-C", folder, serverTests)
	return err
}

// llamaEnvironment builds the server, fetches the models, and says where they are.
func llamaEnvironment(ctx context.Context, packages, folder, listFile string) ([]string, error) {
	withoutCgo := []string{"CGO_ENABLED=0"}
	if _, err := output(ctx, withoutCgo, "go", "run", "./tools/build"); err != nil {
		return nil, err
	}
	program, err := filepath.Abs("bin/diglot")
	if err != nil {
		return nil, err
	}
	plugin, err := filepath.Abs(llamaFolder)
	if err != nil {
		return nil, err
	}
	models := map[string]string{}
	for theirs, ours := range llamaModels {
		file, err := output(ctx, withoutCgo, "go", "run", "./tools/fetch", ours)
		if err != nil {
			return nil, err
		}
		models[theirs] = strings.TrimSpace(file)
	}
	text, err := json.Marshal(models)
	if err != nil {
		return nil, err
	}
	return []string{
		"SUITE_PROGRAM=" + program, "SUITE_MODELS=" + string(text), "SUITE_LIST=" + listFile,
		"SUITE_RESULTS=" + filepath.Join(folder, "results.json"), "PORT=18480", "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH=" + packages + string(os.PathListSeparator) + plugin,
	}, nil
}

// output runs a command and returns its stdout.
func output(ctx context.Context, env []string, command ...string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	said, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return string(said), nil
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}
