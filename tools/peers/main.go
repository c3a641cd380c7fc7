// Command peers records what diglot, llama-server and Ollama answer in the same 40
// cases, asked by the vendors' Python SDKs over the same models, and writes a page of
// how the others differ.
//
//	go run ./tools/peers record    into cassettes/peers, and the page
//	go run ./tools/peers page      only the page, from cassettes/peers
//
// It needs bin/diglot, which make build makes. llama-server and ollama are taken from
// LLAMA_SERVER and OLLAMA, or from PATH; the recordings of one that is absent stay as
// they are. The cases are in tools/sdk/python/peers.py.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
)

//go:generate go -C ../.. run ./tools/peers page

// places are paths in the repository.
const (
	recordings = "cassettes/peers"
	page       = "gen/reference/diff.md"
	suite      = "tools/sdk/python"
	packages   = ".cache/sdk-python"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("peers", flag.ContinueOnError)
	only := set.String("only", "", "record this `server` alone: diglot, llama-server or ollama")
	diglot := set.String("diglot", "bin/diglot", "`program` of diglot, with llama.cpp")
	if len(args) == 0 || !slices.Contains([]string{"record", "page"}, args[0]) {
		return fmt.Errorf("want record or page")
	}
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	if args[0] == "record" {
		if err := recordAll(ctx, *diglot, *only); err != nil {
			return err
		}
	}
	text, err := renderPage(os.DirFS(filepath.FromSlash(recordings)))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.FromSlash(page), text, 0o644)
}
