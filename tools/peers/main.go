// Command peers holds diglot beside llama-server and Ollama, over the same models, and
// writes pages of the reference about it: how their replies differ in 40 cases that the
// vendors' Python SDKs ask, and how they score with "diglot verify".
//
//	go run ./tools/peers record    replies into cassettes/peers, and their page
//	go run ./tools/peers verify    scores into tools/peers/scores, and their pages
//	go run ./tools/peers page      only the pages
//
// It needs bin/diglot, which make build makes. llama-server and ollama are taken from
// LLAMA_SERVER and OLLAMA, or from PATH; what is known of one that is absent stays as it
// is. The cases are in tools/sdk/python/peers.py.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
)

//go:generate go -C ../.. run ./tools/peers page

// places are paths in the repository.
const (
	recordings = "cassettes/peers"
	scores     = "tools/peers/scores"
	reference  = "gen/reference"
	suite      = "tools/sdk/python"
	installed  = ".cache/peers-python" // by pip
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("peers", flag.ContinueOnError)
	only := set.String("only", "", "ask this `server` alone: diglot, llama-server or ollama")
	group := set.String("group", "", "verify this `group` alone: openai/chat, anthropic/messages...")
	diglot := set.String("diglot", "bin/diglot", "`program` of diglot, with llama.cpp")
	if len(args) == 0 || !slices.Contains([]string{"record", "verify", "page"}, args[0]) {
		return fmt.Errorf("want record, verify or page")
	}
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	var err error
	switch args[0] {
	case "record":
		err = recordAll(ctx, *diglot, *only)
	case "verify":
		err = verifyAll(ctx, *diglot, *only, *group)
	}
	if err != nil {
		return err
	}
	return writePages()
}

func writePages() error {
	differences, err := renderPage(os.DirFS(filepath.FromSlash(recordings)))
	if err != nil {
		return err
	}
	pages, err := renderScores(os.DirFS(filepath.FromSlash(scores)))
	if err != nil {
		return err
	}
	pages["diff.md"] = differences
	written, err := filepath.Glob(filepath.Join(filepath.FromSlash(reference), "peers-*.md"))
	if err != nil {
		return err
	}
	for _, name := range written { // a server may have no failures any more
		if pages[filepath.Base(name)] == nil {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(filepath.FromSlash(reference), name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
