package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/engine/models/store"
)

// openStore opens the user's model store, which need not exist.
func openStore(env environment) (*store.Store, error) {
	dir, err := places.Find(env.getenv).ModelsDir()
	if err != nil {
		return nil, err
	}
	store, err := store.Open(store.Options{Dir: dir, Log: warnings(env)})
	if err != nil {
		return nil, err
	}
	// A mistyped DIGLOT_MODELS would look like an empty store.
	if _, err := os.Stat(dir); env.getenv("DIGLOT_MODELS") != "" && errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(env.stderr, "the model store %s does not exist yet\n", dir)
	}
	return store, nil
}

// hintAtServer adds to the error for a missing model that the running server has
// it.
func hintAtServer(ctx context.Context, env environment, n store.Name, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	server, dialErr := dial(env)
	if dialErr != nil {
		return err // without a home there is no server to ask
	}
	defer server.Close()
	if has, asked := serves(ctx, server, n.String()); asked != nil || !has {
		return err
	}
	return fmt.Errorf("%w (the running server has it from a flag or another store; diglot create NAME FILE.gguf adds it to this one)", err)
}

// warnings is the log of a short command: only warnings, without the time.
func warnings(env environment) *slog.Logger {
	return slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: process.WithoutTime}))
}

// parseName parses a model name of the command line.
func parseName(s string) (store.Name, error) {
	n, err := store.ParseName(s)
	var wrong *store.NameError
	if errors.As(err, &wrong) {
		return n, exit.Usage("%v", err)
	}
	return n, err
}

// parseNames parses all names, so that an invalid one fails before any is used.
func parseNames(args []string) ([]store.Name, error) {
	names := make([]store.Name, len(args))
	for i, arg := range args {
		n, err := parseName(arg)
		if err != nil {
			return nil, err
		}
		names[i] = n
	}
	return names, nil
}

// shortID is the start of a digest, as in docker.
func shortID(m *store.Model) string { return m.Digest.Encoded()[:12] }

// arguments checks the number of arguments; what describes them.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return exit.Usage("%s: requires %s; see %q", c.Name(), what, c.CommandPath()+" --help")
		case most >= 0 && len(args) > most:
			return exit.Usage("%s: unexpected argument %q; want %s", c.Name(), args[most], what)
		}
		return nil
	}
}

// anyNumber is an unlimited most of arguments.
const anyNumber = -1
