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

// openStore opens the user's model store, which need not exist yet.
func openStore(env environment) (*store.Store, error) {
	dir, err := places.Find(env.getenv).ModelsDir()
	if err != nil {
		return nil, err
	}
	store, err := store.Open(store.Options{Dir: dir, Log: warnings(env)})
	if err != nil {
		return nil, err
	}
	// A folder that the user names may be mistyped, and then looks like a
	// store without models.
	if _, err := os.Stat(dir); env.getenv("DIGLOT_MODELS") != "" && errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(env.stderr, "the model store %s does not exist yet\n", dir)
	}
	return store, nil
}

// hintAtServer adds to an error for a model that is not in the store that the
// running server has it all the same.
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
	return fmt.Errorf("%w (the running server has it by a flag, or in another store; diglot create NAME FILE.gguf puts it into this one)", err)
}

// warnings is the log of a command that ends soon: what did not go well,
// without the time.
func warnings(env environment) *slog.Logger {
	return slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: process.WithoutTime}))
}

// parseName reads the name of a model from the command line.
func parseName(s string) (store.Name, error) {
	n, err := store.ParseName(s)
	var wrong *store.NameError
	if errors.As(err, &wrong) {
		return n, exit.Usage("%v", err)
	}
	return n, err
}

// parseNames reads all of them, before anything is done to one.
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

// shortID is as much of a digest as a person compares.
func shortID(m *store.Model) string { return m.Digest.Encoded()[:12] }

// arguments is for commands that take so many arguments; what names them.
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

// anyNumber is for arguments, as most.
const anyNumber = -1
