// Command check runs all checks of the repository. It prints a line per step and
// then the totals of passed and failed checks and tests.
//
//	go run ./tools/check               all steps except the long ones
//	go run ./tools/check vet test      only these
//	go run ./tools/check -list         list the steps
//
// It continues after a failure. A step without counts of its own counts as one
// check.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"
)

// step is one check. Its output is shown if it fails.
type step struct {
	name  string
	about string
	run   func(ctx context.Context, out io.Writer) (tally, error)

	// lane is empty for a step that needs all processors. Neighbours with a lane run at the
	// same time, those of one lane in order: suites that wait for a browser or an interpreter
	// leave a processor free.
	lane string
}

// note starts an output line that is shown even if the step passes, such as a
// reason why something did not run.
const note = "note: "

// tally counts checks and tests.
type tally struct{ passed, failed, skipped int }

func (t *tally) add(o tally) {
	t.passed += o.passed
	t.failed += o.failed
	t.skipped += o.skipped
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	list := flag.Bool("list", false, "list the steps")
	image := flag.Bool("imagegen", false, "build the image engine, unless it is there, which takes half an hour")
	flag.Parse()
	if *list {
		for _, s := range slices.Concat(steps, longSteps) {
			fmt.Printf("%-12s %s\n", s.name, s.about)
		}
		return
	}
	all := steps
	if *image {
		all = withImageEngine(all)
	}
	if flag.NArg() > 0 {
		all = slices.Concat(all, longSteps)
	}
	chosen, err := choose(all, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	total := runAll(ctx, chosen, os.Stdout)
	if total.failed > 0 || ctx.Err() != nil {
		stop()
		os.Exit(1)
	}
}

// choose selects steps by name, in the order of the list; no names mean all.
func choose(all []step, names []string) ([]step, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []step
	for _, s := range all {
		if slices.Contains(names, s.name) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s step) bool { return s.name == name }) {
			return nil, fmt.Errorf("unknown step %q; see -list", name)
		}
	}
	return chosen, nil
}

// runAll runs the steps and prints the totals on the last line.
func runAll(ctx context.Context, chosen []step, out io.Writer) tally {
	var total tally
	out = &lockedWriter{out: out}
	for len(chosen) > 0 && ctx.Err() == nil {
		n := together(chosen)
		total.add(runLanes(ctx, chosen[:n], out))
		chosen = chosen[n:]
	}
	if total.skipped > 0 {
		fmt.Fprintf(out, "%d skipped\n", total.skipped)
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", total.passed, total.failed)
	return total
}

// together counts the steps at the front that run at the same time.
func together(steps []step) int {
	if n := slices.IndexFunc(steps, func(s step) bool { return s.lane == "" }); n >= 0 {
		return max(n, 1)
	}
	return len(steps)
}

// runLanes runs the lanes of steps at the same time.
func runLanes(ctx context.Context, steps []step, out io.Writer) tally {
	lanes := map[string][]step{}
	for _, s := range steps {
		lanes[s.lane] = append(lanes[s.lane], s)
	}
	counts := make(chan tally)
	for _, lane := range lanes {
		go func() {
			var count tally
			for _, s := range lane {
				if ctx.Err() == nil {
					count.add(runStep(ctx, s, out))
				}
			}
			counts <- count
		}()
	}
	var total tally
	for range lanes {
		total.add(<-counts)
	}
	return total
}

// lockedWriter keeps what steps of several lanes print apart: a step prints once.
type lockedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

// runStep runs a step and prints its result in one piece.
func runStep(ctx context.Context, s step, out io.Writer) tally {
	var said, result bytes.Buffer
	defer result.WriteTo(out)
	start := time.Now()
	count, err := s.run(ctx, &said)
	took := time.Since(start).Round(100 * time.Millisecond)
	switch {
	case err != nil && count.failed == 0:
		count.failed = 1 // it failed before counting
	case err == nil && count == tally{}:
		count.passed = 1
	}
	if count.failed > 0 {
		fmt.Fprintf(&result, "FAIL %-12s %8s  %s\n", s.name, took, s.about)
		said.WriteTo(&result)
		if err != nil {
			fmt.Fprintln(&result, err)
		}
		return count
	}
	fmt.Fprintf(&result, "ok   %-12s %8s  %s (%d)\n", s.name, took, s.about, count.passed)
	for line := range strings.Lines(said.String()) {
		if strings.HasPrefix(line, note) {
			result.WriteString(line)
		}
	}
	return count
}
