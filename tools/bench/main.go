// Command bench compares diglot with other servers over the same model files: with
// llama-server, Ollama and the server of ik_llama.cpp, as far as they are there. All have
// the same number of threads and the same context, and are loaded at the same time; their
// requests alternate, so that ratios hold on a machine whose speed varies. The first round
// does not count.
//
//	bench --model NAME=FILE                       everything
//	bench --model NAME=FILE --workloads decode    one workload: about a minute
//	bench --list                                  the workloads
//	bench --show                                  the report anew, from bench/results.json
//
// Servers are found in LLAMA_SERVER, OLLAMA and IK_LLAMA_SERVER, in PATH, or by --program.
// The results of all servers and workloads are written into bench/, those of some into
// .cache/bench, unless --out says otherwise: results.json, README.md and plots. Processor
// time and memory of servers are known on Linux alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/diglot/diglot/tools/bench/report"
)

type config struct {
	models    [][2]string // name and file
	servers   []string
	workloads []string
	programs  map[string]string
	args      map[string][]string // more flags for a server
	settings  report.Settings
	tokens    int // of a decoded text
	timeout   time.Duration
	out       string
	ceilings  bool
	list      bool
	show      bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(ctx, c, os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, c config, out io.Writer) error {
	switch {
	case c.list:
		for _, w := range workloads(c) {
			fmt.Fprintf(out, "%-12s %s\n", w.name, w.about)
		}
		return nil
	case c.show:
		results, err := report.Read(c.out)
		if err != nil {
			return err
		}
		return results.Write(c.out)
	}
	return compare(ctx, c, out)
}

// parse reads the command line; help goes to out.
func parse(args []string, out io.Writer) (config, error) {
	c := config{programs: map[string]string{}, args: map[string][]string{}}
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(out)
	set.Func("model", "`NAME=FILE` of a GGUF file, of text or embeddings, or of a script; repeatable", func(s string) error {
		name, file, ok := strings.Cut(s, "=")
		if !ok {
			return errors.New("want NAME=FILE")
		}
		c.models = append(c.models, [2]string{name, file})
		return nil
	})
	servers := set.String("servers", strings.Join(serverNames(), ","), "measure these `servers`")
	chosen := set.String("workloads", "", "run these `workloads`; empty: all")
	set.Func("program", "`SERVER=PATH` of a server's program; repeatable", func(s string) error {
		name, path, ok := strings.Cut(s, "=")
		if !ok || !slices.Contains(serverNames(), name) {
			return fmt.Errorf("want SERVER=PATH; servers are %s", strings.Join(serverNames(), ", "))
		}
		c.programs[name] = path
		return nil
	})
	set.Func("args", "`SERVER=FLAGS`: more flags for a server; repeatable", func(s string) error {
		name, flags, ok := strings.Cut(s, "=")
		if !ok || !slices.Contains(serverNames(), name) {
			return fmt.Errorf("want SERVER=FLAGS; servers are %s", strings.Join(serverNames(), ", "))
		}
		c.args[name] = append(c.args[name], strings.Fields(flags)...)
		return nil
	})
	set.IntVar(&c.settings.Rounds, "rounds", 3, "rounds, after a first one that does not count")
	set.IntVar(&c.settings.Threads, "threads", 2, "compute threads of each server")
	set.IntVar(&c.settings.Context, "context", 8192, "context of a request in tokens")
	set.IntVar(&c.settings.Parallel, "parallel", 8, "requests that a server answers at the same time")
	set.Uint64Var(&c.settings.Seed, "seed", 1, "seed of prompts and arrivals")
	set.IntVar(&c.tokens, "tokens", 128, "tokens of a decoded text")
	set.DurationVar(&c.timeout, "timeout", 10*time.Minute, "how long a server may take for a workload, once")
	set.StringVar(&c.out, "out", "", "`folder` of the results (default \"bench\", or \".cache/bench\" for some servers or workloads)")
	set.BoolVar(&c.ceilings, "ceilings", true, "measure what the machine can do")
	set.BoolVar(&c.list, "list", false, "list the workloads")
	set.BoolVar(&c.show, "show", false, "write the report anew from the results of an earlier run")
	if err := set.Parse(args); err != nil {
		return c, err
	}
	c.servers, c.workloads = split(*servers), split(*chosen)
	if c.out == "" {
		c.out = c.defaultFolder()
	}
	return c, c.check()
}

// defaultFolder keeps results of everything from being replaced by those of a part.
func (c config) defaultFolder() string {
	if !c.show && (len(c.workloads) > 0 || len(c.servers) < len(kinds)) {
		return ".cache/bench"
	}
	return "bench"
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func (c config) check() error {
	for _, name := range c.servers {
		if !slices.Contains(serverNames(), name) {
			return fmt.Errorf("unknown server %q; servers are %s", name, strings.Join(serverNames(), ", "))
		}
	}
	for _, name := range c.workloads {
		if !slices.ContainsFunc(workloads(c), func(w workload) bool { return w.name == name }) {
			return fmt.Errorf("unknown workload %q; see --list", name)
		}
	}
	if len(c.models) == 0 && !c.list && !c.show {
		return errors.New("no --model")
	}
	if min(c.settings.Rounds, c.settings.Threads, c.settings.Context, c.settings.Parallel, c.tokens-1) < 1 {
		return errors.New("rounds, threads, context and parallel are at least 1, tokens at least 2")
	}
	return nil
}
