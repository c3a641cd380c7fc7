package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/diglot/diglot/tools/bench/machine"
)

// multiplications is the ceiling for a model: quantised weights are multiplied as int8.
func (r Results) multiplications(m Model) machine.Figure {
	if r.Ceilings.Int8.PerSecond == 0 || slices.Contains([]string{"F32", "F16", "BF16"}, m.Quantization) {
		return r.Ceilings.Float
	}
	return r.Ceilings.Int8
}

// markdown is the page of the results. Plots are named by their workloads.
func (r Results) markdown(plots []plotted) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Benchmark\n\n`make bench` wrote this page on %s.\n\n", r.Date)
	fmt.Fprintf(&out, "%s, %d cores, %s; load averages at the start: %s. Threads of each server: %d; context: %d; requests at once: %d; seed: %d. "+
		"Requests alternate between the servers. Medians of rounds, with quartiles in brackets; rounds: %d, after one that does not count.\n\n", r.CPU, r.Cores, r.System, r.Load,
		r.Settings.Threads, r.Settings.Context, r.Settings.Parallel, r.Settings.Seed, r.Settings.Rounds)
	r.writeServers(&out)
	r.writeCeilings(&out)
	out.WriteString(r.Goals())
	for _, m := range r.Models {
		r.writeModel(&out, m)
	}
	if len(plots) > 0 {
		fmt.Fprintf(&out, "\n## Plots\n\n")
	}
	for _, p := range plots {
		fmt.Fprintf(&out, "![%s](%s)\n", p.title, p.file)
	}
	return out.Bytes()
}

func (r Results) writeServers(out io.Writer) {
	fmt.Fprintf(out, "| server | version | started with |\n|---|---|---|\n")
	for _, s := range r.Servers {
		version, command := s.Version, "`"+s.Command+"`"
		if version == "" {
			version, command = "absent: not measured", ""
		}
		fmt.Fprintf(out, "| %s | %s | %s |\n", s.Name, version, command)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(out, "\n%s\n", note)
	}
}

func (r Results) writeCeilings(out io.Writer) {
	c := r.Ceilings
	fmt.Fprintf(out, "\n## What the machine can do\n\n")
	if c == nil {
		fmt.Fprintf(out, "Not measured.\n")
		return
	}
	fmt.Fprintf(out, "By loops in C, compiled for this processor, with %d threads; the best of five passes.\n\n| | per second | instructions |\n|---|---|---|\n", c.Threads)
	for _, row := range []struct {
		about  string
		figure machine.Figure
	}{{"multiplications of floats, in registers", c.Float}, {"multiplications of int8, in registers", c.Int8}, {"multiplications of int8, in AMX tiles", c.Tiles}} {
		if row.figure.PerSecond > 0 {
			fmt.Fprintf(out, "| %s | %.1f G | %s |\n", row.about, row.figure.PerSecond/1e9, row.figure.Instructions)
		}
	}
	sizes := make([]int64, 0, len(c.Read))
	for size := range c.Read {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	for _, size := range sizes {
		fmt.Fprintf(out, "| reading %d MB again and again | %.1f GB | %s |\n", size/1e6, c.Read[size].PerSecond/1e9, c.Read[size].Instructions)
	}
}

// Goals is the table of what diglot is to reach; empty: nothing that was measured has a
// goal.
func (r Results) Goals() string {
	all := r.verdicts()
	if len(all) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\n## What diglot is to reach\n\nRatios to the other server: of times and memory, at most; of tokens per second, at least.\n\n"+
		"| workload | model | against | wanted | measured | |\n|---|---|---|---|---|---|\n")
	for _, v := range all {
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s |\n", v.about, v.model, v.against, v.wanted, v.measured, v.reached)
	}
	return out.String()
}

// writeModel writes a table with a row for each metric, and a column for each server.
func (r Results) writeModel(out io.Writer, m Model) {
	fmt.Fprintf(out, "\n## %s\n\n", m.Name)
	if m.Bytes > 0 {
		fmt.Fprintf(out, "%s, %.0f million parameters, %.0f MB; a generated token reads %.0f MB of weights.\n\n", m.Quantization,
			float64(m.Parameters)/1e6, float64(m.Bytes)/1e6, float64(m.ReadPerToken)/1e6)
	}
	var servers []string
	var rows []Figure
	for _, f := range m.Figures {
		if !slices.Contains(servers, f.Server) {
			servers = append(servers, f.Server)
		}
		if !slices.ContainsFunc(rows, func(o Figure) bool { return o.Workload == f.Workload && o.Metric.Name == f.Metric.Name }) {
			rows = append(rows, f)
		}
	}
	fmt.Fprintf(out, "| workload | | %s |\n|---|---|%s\n", strings.Join(servers, " | "), strings.Repeat("---|", len(servers)))
	for _, row := range rows {
		fmt.Fprintf(out, "| %s | %s, %s |", row.Workload, row.Metric.Name, row.Metric.Unit)
		for _, server := range servers {
			fmt.Fprintf(out, " %s |", r.cell(m, row, server))
		}
		fmt.Fprintln(out)
	}
	writeNotes(out, m)
}

func (r Results) cell(m Model, row Figure, server string) string {
	i := slices.IndexFunc(m.Figures, func(f Figure) bool {
		return f.Workload == row.Workload && f.Metric.Name == row.Metric.Name && f.Server == server
	})
	if i < 0 {
		return ""
	}
	f := m.Figures[i]
	text := "none"
	if s := f.Summary; s.Rounds > 0 {
		text = fmt.Sprintf("%s (%s to %s)", number(s.Median), number(s.LowerQuartile), number(s.UpperQuartile))
	}
	if share, ok := r.share(m, f); ok {
		text += fmt.Sprintf(", %.0f %% of the machine", 100*share)
	}
	if f.Incomplete > 0 {
		text += fmt.Sprintf(", %d incomplete", f.Incomplete)
	}
	return text
}

func writeNotes(out io.Writer, m Model) {
	var notes []string
	for _, f := range m.Figures {
		if note := fmt.Sprintf("- %s, %s: %s", f.Workload, f.Server, f.Note); f.Note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	if len(notes) > 0 {
		fmt.Fprintf(out, "\n%s\n", strings.Join(notes, "\n"))
	}
}

// number has three digits that count.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
