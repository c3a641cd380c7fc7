//go:build llamacpp

// Overhead measures the overhead of the server over llama.cpp. Measurements
// alternate within one run, so that ratios hold on a machine whose speed varies:
//
//   - one stream through HTTP, and through the engine alone, against a bare C loop
//     over the same llama.cpp with its defaults, and against that loop with
//     weights in huge pages, as the engine has them;
//   - eight concurrent clients with one long prefix against one client;
//   - sampling against the forward pass.
//
// With DIGLOT_LLAMA_BENCH=PATH it also runs that llama-bench.
//
//	overhead --model NAME=FILE [--server bin/diglot] [--threads N] [--rounds N]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/llamacpp"
)

type config struct {
	name, path string
	server     string
	llamaBench string
	threads    int
	rounds     int
	tokens     int // of a stream
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := parse(os.Args[1:])
	if err == nil {
		c.llamaBench = os.Getenv("DIGLOT_LLAMA_BENCH")
		err = run(ctx, c, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
}

func parse(args []string) (config, error) {
	var c config
	flags := flag.NewFlagSet("overhead", flag.ContinueOnError)
	model := flags.String("model", "", "`NAME=FILE` of the model")
	flags.StringVar(&c.server, "server", "bin/diglot", "measure this program through HTTP; empty: none")
	flags.IntVar(&c.threads, "threads", 0, "compute threads; 0: one per physical core")
	flags.IntVar(&c.rounds, "rounds", 5, "rounds for concurrent clients; streams have four times as many")
	flags.IntVar(&c.tokens, "tokens", 128, "tokens per stream")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	name, path, ok := strings.Cut(*model, "=")
	if !ok {
		return c, fmt.Errorf("--model %q is not NAME=FILE", *model)
	}
	c.name, c.path = name, path
	if c.threads == 0 {
		c.threads = llamacpp.DefaultThreads()
	}
	return c, nil
}

func run(ctx context.Context, c config, out io.Writer) error {
	// As in a runner, and so that the client takes little of the measured cores.
	runtime.GOMAXPROCS(1)
	options := llamacpp.Options{Path: c.path, Threads: c.threads}
	bare, err := llamacpp.OpenBare(options)
	if err != nil {
		return err
	}
	defer bare.Close()
	copied, err := llamacpp.OpenBareCopied(options)
	if err != nil {
		return err
	}
	defer copied.Close()
	model, err := llamacpp.Open(ctx, options)
	if err != nil {
		return err
	}
	defer model.Close()
	b := &bench{config: c, bare: bare, copied: copied, model: model, samples: map[string][]float64{}}
	if c.server != "" {
		b.server, err = startServer(ctx, c)
		if err != nil {
			return err
		}
		defer b.server.stop()
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	b.report(out)
	return nil
}

// bench has one number per round for each measurement.
type bench struct {
	config
	bare    *llamacpp.Bare // as llama.cpp loads by default
	copied  *llamacpp.Bare // with weights in huge pages
	model   *decode.Model
	server  *server // nil: not measured
	samples map[string][]float64
}

func (b *bench) add(name string, value float64) { b.samples[name] = append(b.samples[name], value) }

// time records how many milliseconds f took.
func (b *bench) time(name string, f func() error) error {
	start := time.Now()
	err := f()
	b.add(name, milliseconds(time.Since(start)))
	return err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median returns the median of the rounds.
func (b *bench) median(name string) float64 { return median(b.samples[name]) }

// ratio returns the median of the ratios per round, whose two sides were measured
// within seconds.
func (b *bench) ratio(name, base string) float64 {
	ratios := slices.Clone(b.samples[name])
	for i, value := range b.samples[base] {
		ratios[i] /= value
	}
	return median(ratios)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
