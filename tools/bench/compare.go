package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/diglot/diglot/tools/bench/ask"
	"github.com/diglot/diglot/tools/bench/machine"
	"github.com/diglot/diglot/tools/bench/report"
)

// comparison is one run.
type comparison struct {
	config
	folder  string // for files of servers, removed at the end
	servers []*found
	chosen  []workload
	results report.Results
	log     io.Writer
}

// compare measures everything and writes the report.
func compare(ctx context.Context, c config, out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	b := &comparison{config: c, folder: folder, log: out}
	for _, w := range workloads(c) {
		if len(c.workloads) == 0 || slices.Contains(c.workloads, w.name) {
			b.chosen = append(b.chosen, w)
		}
	}
	b.results = report.Results{Date: time.Now().UTC().Format(time.DateOnly), System: runtime.GOOS + "/" + runtime.GOARCH, CPU: cpuName(), Cores: runtime.NumCPU(),
		Load: loadAverages(), Settings: c.settings}
	if err := b.findServers(ctx); err != nil {
		return err
	}
	var models []model
	for _, m := range c.models {
		opened, err := openModel(m[0], m[1], c.settings.Seed)
		if err != nil {
			return fmt.Errorf("model %s: %w", m[0], err)
		}
		models = append(models, opened)
	}
	if err := b.measureMachine(ctx, models); err != nil {
		return err
	}
	for _, m := range models {
		if err := b.measure(ctx, m); err != nil {
			return errors.Join(err, b.write()) // what there is
		}
	}
	return b.write()
}

// write writes the report, and prints what the project wants to reach.
func (b *comparison) write() error {
	b.describe()
	if err := b.results.Write(b.out); err != nil {
		return err
	}
	fmt.Fprintf(b.log, "%s\nwrote %s\n", b.results.Goals(), b.out)
	return nil
}

func (b *comparison) findServers(ctx context.Context) error {
	for _, k := range kinds {
		if !slices.Contains(b.config.servers, k.Name) {
			continue
		}
		f, err := find(ctx, k, b.config, b.folder)
		if err != nil {
			return err
		}
		b.servers = append(b.servers, f)
		if f.version == "" {
			fmt.Fprintf(b.log, "note: no %s in PATH, %s or --program: not measured\n", k.Name, k.Variable)
		}
	}
	return nil
}

// measureMachine comes first, while no server is there.
func (b *comparison) measureMachine(ctx context.Context, models []model) error {
	if !b.ceilings {
		return nil
	}
	sizes := []int64{1 << 30}
	for _, m := range models {
		if m.about.ReadPerToken > 0 {
			sizes = append(sizes, m.about.ReadPerToken)
		}
	}
	slices.Sort(sizes)
	c, err := machine.Measure(ctx, b.settings.Threads, slices.Compact(sizes))
	if errors.Is(err, machine.ErrNoCompiler) {
		fmt.Fprintf(b.log, "note: %v: what the machine can do is not measured\n", err)
		return nil
	}
	b.results.Ceilings = &c
	return err
}

// describe says how the servers were started, and what a reader of the figures must know.
func (b *comparison) describe() {
	for _, f := range b.servers {
		b.results.Servers = append(b.results.Servers, report.Server{Name: f.Name, Version: f.version, Command: f.command})
	}
	b.results.Notes = append(b.results.Notes, fmt.Sprintf("diglot and llama-server have %d KV cells for all requests together; Ollama and ik_llama.cpp reserve the context "+
		"for each of %d requests, which counts as their memory.", cells(b.settings), b.settings.Parallel))
	var load float64
	if _, err := fmt.Sscan(b.results.Load, &load); err == nil && load > busyLoad {
		b.results.Notes = append(b.results.Notes, "**The machine was busy when this run began: the figures say little.**")
	}
}

// busyLoad is a load average that something else on the machine causes.
const busyLoad = 0.5

// able are the servers that are there and can serve a model.
func (b *comparison) able(m model) []*found {
	return slices.DeleteFunc(slices.Clone(b.servers), func(f *found) bool { return f.version == "" || m.script && f.Name != "diglot" })
}

// measure runs all workloads for a model: first those that start servers of their own,
// which are then alone on the machine.
func (b *comparison) measure(ctx context.Context, m model) error {
	about := m.about
	for _, w := range b.chosen {
		if w.fresh == nil || !w.fits(m) {
			continue
		}
		var names []string
		for _, f := range b.able(m) {
			names = append(names, f.Name)
		}
		figures, err := b.rounds(ctx, w, m, names, func(ctx context.Context, i int, key string) (values, error) {
			return w.fresh(ctx, b.able(m)[i], m, b.settings, key)
		})
		if err != nil {
			return err
		}
		about.Figures = append(about.Figures, figures...)
	}
	figures, err := b.measureRunning(ctx, m)
	about.Figures = append(about.Figures, figures...)
	b.results.Models = append(b.results.Models, about)
	return err
}

// measureRunning has all servers run at once.
func (b *comparison) measureRunning(ctx context.Context, m model) (figures []report.Figure, err error) {
	chosen := slices.DeleteFunc(slices.Clone(b.chosen), func(w workload) bool { return w.run == nil || !w.fits(m) })
	if len(chosen) == 0 {
		return nil, nil
	}
	targets, err := b.startAll(ctx, m, chosen)
	defer func() {
		for _, t := range slices.Backward(targets) {
			t.stop()
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, w := range chosen {
		wanted := slices.DeleteFunc(slices.Clone(targets), func(t *target) bool { return !w.wants(t.name) })
		var names []string
		for _, t := range wanted {
			names = append(names, t.name)
		}
		more, err := b.rounds(ctx, w, m, names, func(ctx context.Context, i int, key string) (values, error) {
			v, err := w.run(ctx, wanted[i], m, key)
			if err != nil && !errors.Is(err, ask.ErrIncomplete) {
				err = wanted[i].process.Explain(err)
			}
			return v, err
		})
		for i := range more {
			if t := wanted[slices.Index(names, more[i].Server)]; w.name == "choices" && t.oneChoice {
				more[i].Note = "it has no n; asked eight times at once"
			}
		}
		figures = append(figures, more...)
		if err != nil {
			return figures, err
		}
	}
	return figures, nil
}

// startAll starts every server, and the gateway if a workload wants it.
func (b *comparison) startAll(ctx context.Context, m model, chosen []workload) (targets []*target, err error) {
	byName := map[string]*target{}
	for _, f := range b.able(m) {
		t, err := f.run(ctx, m, b.settings)
		if err != nil {
			return targets, err
		}
		targets, byName[f.Name] = append(targets, t), t
	}
	gateway := slices.ContainsFunc(chosen, func(w workload) bool { return slices.Contains(w.servers, gatewayName) })
	upstream := byName["llama-server"]
	i := slices.IndexFunc(b.servers, func(f *found) bool { return f.Name == "diglot" && f.version != "" })
	if !gateway || upstream == nil || i < 0 {
		return targets, nil
	}
	t, err := b.servers[i].behind(ctx, upstream, b.folder)
	if err != nil {
		return targets, fmt.Errorf("the gateway: %w", err)
	}
	return append(targets, t), nil
}

// tries are how often a server is asked in a round for what it should say completely.
const tries = 3

// row is what one server did in the rounds of a workload.
type row struct {
	server     string
	measured   []values // nil: nothing in that round
	incomplete int
	failed     error // it is not asked again
}

// rounds alternates between servers, beginning with another one in each round. A server
// that fails is left out from then on, and the report says why.
func (b *comparison) rounds(ctx context.Context, w workload, m model, servers []string, once func(ctx context.Context, i int, key string) (values, error)) ([]report.Figure, error) {
	rows := make([]row, len(servers))
	for i := range rows {
		rows[i].server = servers[i]
	}
	for round := range b.settings.Rounds + 1 {
		fmt.Fprintf(b.log, "%s, round %d:", w.name, round)
		for turn := range rows {
			i, start := (turn+round)%len(rows), time.Now()
			v := b.tried(ctx, w, &rows[i], func(try int) (values, error) {
				ctx, cancel := context.WithTimeout(ctx, b.timeout)
				defer cancel()
				return once(ctx, i, fmt.Sprintf("%s %s, round %d, try %d", m.name, w.name, round, try))
			})
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			rows[i].measured = append(rows[i].measured, v)
			fmt.Fprintf(b.log, " %s %.1f s", servers[i], time.Since(start).Seconds())
		}
		fmt.Fprintln(b.log)
	}
	var figures []report.Figure
	for _, metric := range w.metrics {
		for _, r := range rows {
			f := report.NewFigure(w.name, r.server, metric, column(r.measured[1:], metric.Name))
			f.Incomplete = r.incomplete
			if r.failed != nil {
				f.Note, _, _ = strings.Cut(r.failed.Error(), "\n")
			}
			figures = append(figures, f)
			fmt.Fprintf(b.log, "%-20s %-12s %-13s %-8s %10.2f %s\n", m.name, w.name, r.server, metric.Name, f.Summary.Median, metric.Unit)
		}
	}
	return figures, nil
}

// tried asks again where a reply is incomplete; without a complete one it returns nil.
func (b *comparison) tried(ctx context.Context, w workload, r *row, once func(try int) (values, error)) values {
	for try := range tries {
		if r.failed != nil || ctx.Err() != nil {
			return nil
		}
		v, err := once(try)
		switch {
		case err == nil:
			return v
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ask.ErrIncomplete):
			r.incomplete++
		default:
			r.failed = err
		}
		fmt.Fprintf(b.log, "\nnote: %s, %s: %v\n", w.name, r.server, err)
	}
	return nil
}

// column has the values of one metric.
func column(rounds []values, metric string) []float64 {
	all := make([]float64, len(rounds))
	for i, v := range rounds {
		all[i] = math.NaN()
		if value, ok := v[metric]; ok {
			all[i] = value
		}
	}
	return all
}

// cpuName is what Linux calls the processor, or its architecture.
func cpuName() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // absent elsewhere
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func loadAverages() string {
	text, _ := os.ReadFile("/proc/loadavg") // absent elsewhere
	fields := strings.Fields(string(text))
	if len(fields) < 3 {
		return "unknown"
	}
	return strings.Join(fields[:3], " ")
}
