package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/diglot/diglot/openapi"
)

const (
	schemathesisFolder = "tools/suites/schemathesis"

	// examples is how many random requests Schemathesis makes for an operation, besides
	// those that it derives from each keyword.
	examples = "400"

	// leastCases is how many requests there are over all documents and profiles.
	leastCases = 20_000
)

// schemathesis lets Schemathesis (PyPI) make valid and invalid requests from the served
// documents, and check each reply: its status, headers, type and schema, and whether a
// valid request was accepted and an invalid one refused.
func schemathesis(ctx context.Context, out io.Writer) (total tally, err error) {
	packages, err := installPython(ctx, out, schemathesisFolder)
	if err != nil {
		return tally{}, err
	}
	program, err := buildReplay(ctx)
	if err != nil {
		return tally{}, err
	}
	scratch, err := os.MkdirTemp("", "diglot-schemathesis-")
	if err != nil {
		return tally{}, err
	}
	defer os.RemoveAll(scratch)
	var runs []*fuzz
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		for _, style := range []string{"openai", "anthropic"} {
			runs = append(runs, &fuzz{profile: profile, style: style, program: program, packages: packages, scratch: scratch})
		}
	}
	var group errgroup.Group
	group.SetLimit(2) // one core each
	for _, f := range runs {
		group.Go(func() error { return f.run(ctx) })
	}
	err = group.Wait()
	cases := 0
	for _, f := range runs {
		fmt.Fprintf(out, "schemathesis: %s, profile %s: %d cases\n", f.style, f.profile, f.cases)
		if cases += f.cases; f.failed {
			fmt.Fprintln(out, f.report)
			total.failed++
		} else {
			total.passed++
		}
	}
	if err == nil && cases < leastCases {
		err = fmt.Errorf("%d cases in all, fewer than %d", cases, leastCases)
	}
	return total, errors.Join(err, checkUsed(filepath.Join(scratch, "used")))
}

// fuzz is a run over one document.
type fuzz struct {
	profile  openapi.Profile
	style    string
	program  string // diglot
	packages string // folder of Schemathesis
	scratch  string // folder for what it writes

	report string
	cases  int
	failed bool // it found something
}

func (f *fuzz) run(ctx context.Context) error {
	url, stop, err := serve(ctx, f.program, f.profile)
	if err != nil {
		return err
	}
	defer stop()
	hooks, err := filepath.Abs(schemathesisFolder)
	if err != nil {
		return err
	}
	args := []string{
		"-c", "import schemathesis.cli; schemathesis.cli.schemathesis()",
		"run", url + "/openapi/" + f.style + ".json", "--url", url, "--max-examples", examples, "--seed", "1",
		"--checks", "all", "--exclude-checks", "positive_data_acceptance", // hooks.py has it with exceptions
		"--continue-on-failure", "--no-color", "--output-sanitize", "false",
	}
	if f.style == "anthropic" {
		args = append(args, "--header", "anthropic-version: 2023-06-01")
	}
	cmd := exec.CommandContext(ctx, "python3", args...)
	cmd.Dir = f.scratch
	cmd.Env = append(os.Environ(), "SCHEMATHESIS_HOOKS=hooks", "BEYOND_USED="+filepath.Join(f.scratch, "used"), "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH="+f.packages+string(os.PathListSeparator)+hooks)
	text, failed := cmd.CombinedOutput()
	f.report, f.failed = string(text), failed != nil
	found := generated.FindStringSubmatch(strings.ReplaceAll(f.report, ",", ""))
	if found == nil {
		return errors.Join(fmt.Errorf("no count of cases in:\n%s", text), failed)
	}
	f.cases, err = strconv.Atoi(found[1])
	return err
}

var generated = regexp.MustCompile(`(\d+) generated`)

var entry = regexp.MustCompile(`(?m)^    r"(.*)": "`)

// checkUsed returns an error if an entry of BEYOND was not needed.
func checkUsed(file string) error {
	hooks, err := os.ReadFile(schemathesisFolder + "/hooks.py")
	if err != nil {
		return err
	}
	used, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	lines := strings.Split(string(used), "\n")
	var idle []error
	for _, found := range entry.FindAllStringSubmatch(string(hooks), -1) {
		if !slices.Contains(lines, found[1]) {
			idle = append(idle, fmt.Errorf("hooks.py: no request needs the entry %s", found[1]))
		}
	}
	return errors.Join(idle...)
}
