// Package report holds what a run of the benchmark measured, and shows it: as JSON, as a
// page of tables, and as plots. Servers are compared by the medians of ratios per round,
// and held to what the project wants to reach; what falls short is shown like the rest.
package report

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/diglot/diglot/tools/bench/machine"
	"github.com/diglot/diglot/tools/bench/sample"
)

// Results are those of one run.
type Results struct {
	Date     string            `json:"date"`
	System   string            `json:"system"`
	CPU      string            `json:"cpu"`
	Cores    int               `json:"cores"`
	Load     string            `json:"load"` // averages when the run began
	Settings Settings          `json:"settings"`
	Ceilings *machine.Ceilings `json:"ceilings"` // null: not measured
	Servers  []Server          `json:"servers"`
	Models   []Model           `json:"models"`
	Notes    []string          `json:"notes"`
}

// Settings are the same for all servers.
type Settings struct {
	Rounds   int    `json:"rounds"` // without the first, which is not counted
	Threads  int    `json:"threads"`
	Context  int    `json:"context"`
	Parallel int    `json:"parallel"`
	Seed     uint64 `json:"seed"`
}

// Server is one that was asked for.
type Server struct {
	Name    string `json:"name"`
	Version string `json:"version"` // empty: there is none
	Command string `json:"command"` // with the flags that it was started with
}

// Model is a file and what each server made of it.
type Model struct {
	Name            string   `json:"name"`
	Quantization    string   `json:"quantization"`
	Bytes           int64    `json:"bytes"`
	Parameters      int64    `json:"parameters"`
	ReadPerToken    int64    `json:"read_per_token"`            // bytes of weights that a generated token reads
	Multiplications int64    `json:"multiplications_per_token"` // with weights, for a token of a prompt
	AttentionFactor int64    `json:"attention_multiplications"` // for a token of a prompt and a token before it
	Figures         []Figure `json:"figures"`
}

// Metric is something that a workload measures.
type Metric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Higher bool   `json:"higher_is_better"`
}

// Figure is one metric of one server.
type Figure struct {
	Workload   string         `json:"workload"`
	Server     string         `json:"server"`
	Metric     Metric         `json:"metric"`
	Values     []*float64     `json:"values"` // null: an incomplete reply
	Summary    sample.Summary `json:"summary"`
	Incomplete int            `json:"incomplete"` // replies that were not what was asked for
	Note       string         `json:"note,omitempty"`
}

// NewFigure sums up the values of the rounds; NaN is a round without.
func NewFigure(workload, server string, m Metric, values []float64) Figure {
	f := Figure{Workload: workload, Server: server, Metric: m, Summary: sample.Summarize(values)}
	for _, v := range values {
		if math.IsNaN(v) {
			f.Values = append(f.Values, nil)
			continue
		}
		f.Values = append(f.Values, new(v))
	}
	return f
}

// values are the rounds, NaN where there is no value.
func (f Figure) values() []float64 {
	all := make([]float64, len(f.Values))
	for i, v := range f.Values {
		all[i] = math.NaN()
		if v != nil {
			all[i] = *v
		}
	}
	return all
}

// find returns a figure that has a value.
func (m Model) find(workload, metric, server string) (Figure, bool) {
	i := slices.IndexFunc(m.Figures, func(f Figure) bool {
		return f.Workload == workload && f.Metric.Name == metric && f.Server == server && f.Summary.Rounds > 0
	})
	if i < 0 {
		return Figure{}, false
	}
	return m.Figures[i], true
}

// ratio is that of a server to another, by rounds.
func (m Model) ratio(workload, metric, server, base string) (sample.Summary, bool) {
	a, ok := m.find(workload, metric, server)
	b, also := m.find(workload, metric, base)
	if !ok || !also {
		return sample.Summary{}, false
	}
	s := sample.Summarize(sample.Ratios(a.values(), b.values()))
	return s, s.Rounds > 0
}

// Write writes all files into a folder: results.json, README.md and a plot for each
// workload.
func (r Results) Write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := json.Marshal(r, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "results.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	if err != nil {
		return err
	}
	for _, name := range old { // of workloads that may not be there any more
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	plots, err := r.plot(folder)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "README.md"), r.markdown(plots), 0o644)
}

// Read reads the results of an earlier run.
func Read(folder string) (Results, error) {
	var r Results
	text, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}
