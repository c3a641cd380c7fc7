package main

import (
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/engine/modelstore"
)

// openStore opens the user's model store, which need not exist yet.
func openStore(env environment) (*modelstore.Store, error) {
	dir, err := findPlaces(env).modelsDir()
	if err != nil {
		return nil, err
	}
	return modelstore.Open(modelstore.Options{Dir: dir, Log: warnings(env)})
}

// warnings is the log of a command that ends soon: what did not go well,
// without the time.
func warnings(env environment) *slog.Logger {
	return slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: withoutTime}))
}

// parseName reads the name of a model from the command line.
func parseName(s string) (modelstore.Name, error) {
	n, err := modelstore.ParseName(s)
	var wrong *modelstore.NameError
	if errors.As(err, &wrong) {
		return n, wrongUsage("%v", err)
	}
	return n, err
}

// parseNames reads all of them, before anything is done to one.
func parseNames(args []string) ([]modelstore.Name, error) {
	names := make([]modelstore.Name, len(args))
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
func shortID(m *modelstore.Model) string { return m.Digest.Encoded()[:12] }

// arguments is for commands that take so many arguments; what names them.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return wrongUsage("%s: want %s; see %q", c.Name(), what, c.CommandPath()+" --help")
		case most >= 0 && len(args) > most:
			return wrongUsage("%s: unexpected argument %q; want %s", c.Name(), args[most], what)
		}
		return nil
	}
}

// anyNumber is for arguments, as most.
const anyNumber = -1
