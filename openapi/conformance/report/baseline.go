package report

import (
	"fmt"
	"io"
	"os"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/openapi/conformance"
)

// Baseline is the scenarios that are known to fail, by name, each with the reason or
// nothing. Its file is YAML, one line for each: "openai/chat/field/seed: not yet done".
type Baseline map[string]string

// maxBaseline limits the bytes of a baseline file.
const maxBaseline = 1 << 20

// ReadBaseline reads a baseline file.
func ReadBaseline(path string) (Baseline, error) {
	text, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	b := Baseline{}
	if err := yaml.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("%s is no list of NAME: REASON: %w", path, err)
	}
	return b, nil
}

// readRegular reads a file that is neither large nor a named pipe, which would wait for a
// writer.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBaseline+1))
	if err == nil && len(text) > maxBaseline {
		err = fmt.Errorf("%s: larger than %d bytes", path, maxBaseline)
	}
	return text, err
}

const baselineHead = `# Scenarios of diglot verify that are known to fail, each with the reason or "".
`

// Write writes the baseline as a file, sorted by name.
func (b Baseline) Write(w io.Writer) error {
	text, err := yaml.Marshal(b) // sorts
	if err != nil {
		return err
	}
	if len(b) == 0 {
		text = nil
	}
	_, err = io.WriteString(w, baselineHead+string(text))
	return err
}

// Comparison is a run held against a baseline, as names of scenarios.
type Comparison struct {
	New   []string // fail, and are not in the baseline
	Known []string // fail, as the baseline says
	Fixed []string // pass, and are in the baseline
	Gone  []string // are in the baseline, and no scenario has that name
}

// Compare holds a report against the baseline. all are the names of all scenarios, also of
// those that were not chosen for the run; a scenario of the baseline that was not tested is
// neither fixed nor gone.
func (b Baseline) Compare(r conformance.Report, all []string) Comparison {
	var c Comparison
	for _, result := range r.Results {
		_, known := b[result.Name]
		switch {
		case result.Outcome == conformance.Fail && known:
			c.Known = append(c.Known, result.Name)
		case result.Outcome == conformance.Fail:
			c.New = append(c.New, result.Name)
		case result.Outcome == conformance.Pass && known:
			c.Fixed = append(c.Fixed, result.Name)
		}
	}
	for name := range b {
		if !slices.Contains(all, name) {
			c.Gone = append(c.Gone, name)
		}
	}
	slices.Sort(c.Gone)
	return c
}

// Update returns the baseline after a run: new failures are added, fixed and gone ones
// leave, and what was not tested stays. Reasons stay.
func (b Baseline) Update(c Comparison) Baseline {
	next := Baseline{}
	for name, reason := range b {
		if !slices.Contains(c.Fixed, name) && !slices.Contains(c.Gone, name) {
			next[name] = reason
		}
	}
	for _, name := range c.New {
		next[name] = ""
	}
	return next
}

// known is a reason of the baseline in one line.
func (s Summary) known(reason string) string { return oneLine(s.clean(reason)) }
