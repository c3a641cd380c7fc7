// Suites runs test suites that others wrote against the server.
//
//	go run ./tools/suites                  all of them
//	go run ./tools/suites llamacpp         only these
//	go run ./tools/suites -list            list them
//
// They come from package registries and are installed below .cache. What of a suite does
// not apply here is in a list beside it, with the reason. The last line is the number of
// passed and failed tests; the exit status is 1 if one failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/diglot/diglot/tools/internal/python"
)

// suite is a test suite.
type suite struct {
	name  string
	about string
	run   func(ctx context.Context, out io.Writer) (tally, error)
}

// suites are all of them.
var suites = []suite{
	{"schemathesis", "requests made from the documents at /openapi/, in both styles and profiles", schemathesis},
	{"llamacpp", "tests of llama.cpp's server, over small models", llamaCpp},
}

// tally counts tests.
type tally struct{ passed, failed int }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	list := flag.Bool("list", false, "list the suites")
	flag.Parse()
	if *list {
		for _, s := range suites {
			fmt.Printf("%-14s %s\n", s.name, s.about)
		}
		return
	}
	total, err := run(ctx, flag.Args(), os.Stdout)
	fmt.Printf("%d passed, %d failed\n", total.passed, total.failed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
	}
	if stop(); err != nil || total.failed > 0 {
		os.Exit(1)
	}
}

// run runs the named suites, or all.
func run(ctx context.Context, names []string, out io.Writer) (total tally, err error) {
	for _, name := range names {
		if !slices.ContainsFunc(suites, func(s suite) bool { return s.name == name }) {
			return total, fmt.Errorf("there is no suite %s", name)
		}
	}
	for _, s := range suites {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		t, err := s.run(ctx, out)
		total.passed, total.failed = total.passed+t.passed, total.failed+t.failed
		if err != nil {
			return total, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return total, nil
}

// installPython installs the packages of a suite below .cache.
func installPython(ctx context.Context, out io.Writer, folder string) (string, error) {
	return python.Install(ctx, out, folder+"/requirements.txt", filepath.Join(".cache", filepath.Base(folder)))
}
