// Command sdk runs the vendors' SDKs for Python, Node and Go, and frameworks and agents
// built on them, against a diglot server that it starts.
//
//	go -C tools/sdk run .                        over cassettes/script.yaml
//	go -C tools/sdk run . python langchain       only these suites
//	go -C tools/sdk run . -model NAME=FILE       over a real model, with bin/diglot
//	go -C tools/sdk run . -model NAME=FILE,PROJECTOR  over a vision model
//	go -C tools/sdk run . -images                over the image engine, with a miniature model
//	go -C tools/sdk run . -record                over the script, writing cassettes
//
// The clients get only a base URL, a key and a model name. After installation they run
// with the server in a network with only loopback. The last line has the counts; lines
// that begin with "note: " tell what did not run as it should.
//
// The tests validate the recordings with the types of the same SDKs: no unknown fields,
// no missing ones. testdata/differences.yaml lists the exceptions with reasons.
//
// It is a separate module to keep the SDKs' dependencies out of the server's go.mod.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// root is the path of the repository from this module.
const root = "../.."

type options struct {
	model  string // NAME=FILE, or empty for the script
	images bool   // model draws images
	record bool
	suites []string
	inside string // the server's program: set in a run that is already isolated
	probe  bool
	// skipped is the number of suites that cannot run, for the last line.
	skipped int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.model, "model", "", "serve this model, `NAME=FILE[,PROJECTOR]`, in place of the script")
	flag.BoolVar(&o.record, "record", false, "write the cassettes of these suites")
	flag.BoolVar(&o.images, "images", false, "serve a miniature model that draws, in place of the script")
	flag.StringVar(&o.inside, "inside", "", "internal: run this server without isolation")
	flag.IntVar(&o.skipped, "skipped", 0, "internal: number of suites that cannot run")
	flag.BoolVar(&o.probe, "probe", false, "internal: test whether loopback works")
	flag.Parse()
	o.suites = flag.Args()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "sdk:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	switch {
	case o.probe:
		return raiseLoopback()
	case o.inside != "":
		if err := raiseLoopback(); err != nil {
			return err
		}
		return play(ctx, o)
	}
	if o.images {
		return runImages(ctx, o)
	}
	return runOffline(ctx, o)
}

// runOffline installs the suites, and runs them without a network.
func runOffline(ctx context.Context, o options) (err error) {
	if o.suites, o.skipped, err = prepare(ctx, o); err != nil {
		return err
	}
	var remove func()
	if o.inside, remove, err = serverProgram(ctx, o.model, o.images); err != nil {
		return err
	}
	defer remove()
	return offline(ctx, o)
}

// prepare installs the requested suites and returns their names. It skips suites of
// native programs that are not available.
func prepare(ctx context.Context, o options) (ready []string, skipped int, err error) {
	for _, name := range o.suites {
		if !slices.ContainsFunc(suites, func(s suite) bool { return s.name == name }) {
			return nil, 0, fmt.Errorf("unknown suite %q", name)
		}
	}
	for _, s := range suites {
		if len(o.suites) > 0 && !slices.Contains(o.suites, s.name) || o.model != "" && !s.real || o.record && s.plays {
			continue
		}
		switch err := prepareWith(ctx, s); {
		case err != nil && s.native && !o.record:
			fmt.Printf("note: %v\n", err)
			skipped++
		case err != nil:
			return nil, 0, err
		default:
			ready = append(ready, s.name)
		}
	}
	return ready, skipped, nil
}

// prepareWith installs a suite and those that it needs. Without a native program the code
// that needs it is skipped.
func prepareWith(ctx context.Context, s suite) error {
	for _, other := range suites {
		if !slices.Contains(s.needs, other.name) {
			continue
		}
		if err := other.prepare(ctx); err != nil && other.native {
			fmt.Printf("note: %v\n", err)
		} else if err != nil {
			return err
		}
	}
	return s.prepare(ctx)
}

// play starts the server and runs the suites against it. It returns the error of the
// first suite that could not run, or the number of failed cases.
func play(ctx context.Context, o options) (err error) {
	var chosen []suite
	for _, s := range suites {
		if slices.Contains(o.suites, s.name) {
			chosen = append(chosen, s)
		}
	}
	address, stop, err := startServer(o.inside, serverArguments(o.model, chosen))
	if err != nil {
		return err
	}
	defer stop()
	model, mode := "scripted", "script"
	if o.model != "" {
		model, _, _ = strings.Cut(o.model, "=")
		mode = "real"
		switch {
		case o.images:
			mode = "images"
		case strings.Contains(o.model, ","):
			mode = "vision" // it has a projector
		}
	}
	if o.record {
		mode = "record"
		proxy, closeProxy, err := startProxy(address, chosen)
		if err != nil {
			return err
		}
		defer func() {
			if closing := closeProxy(); err == nil {
				err = closing
			}
		}()
		address = proxy
	}
	at := 1
	if mode == "script" {
		at = runtime.NumCPU() // a script needs no CPU, and a recording is ordered
	}
	passed, failed, err := runSuites(ctx, chosen, at, address, model, mode)
	if err != nil {
		return err
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, o.skipped)
	if failed > 0 {
		return fmt.Errorf("%d cases failed", failed)
	}
	return nil
}
