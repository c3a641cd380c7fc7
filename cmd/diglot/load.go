package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
)

// newLoad is the command that has the server load a model.
func newLoad(env environment) *cobra.Command {
	return &cobra.Command{
		Use:               "load NAME",
		Short:             "Have the server load a model now, before the first request",
		Example:           "  diglot load qwen2.5:0.5b",
		GroupID:           groupServer,
		Args:              arguments(1, 1, "the name of a model"),
		ValidArgsFunction: completeModels(env, 1),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := parseName(args[0])
			if err != nil {
				return err
			}
			server, err := dial(env)
			if err != nil {
				return err
			}
			defer server.Close()
			if err := checkServed(c.Context(), env, server); err != nil {
				return err
			}
			if err := server.Load(c.Context(), n.String()); err != nil {
				return err
			}
			fmt.Fprintf(env.stderr, "%s is ready\n", n)
			return nil
		},
	}
}

// checkServed is [checkStore] for a command that needs no store of its own.
func checkServed(ctx context.Context, env environment, server *control.Client) error {
	served, err := server.Models(ctx)
	if err != nil {
		return err
	}
	own, err := places.Find(env.getenv).ModelsDir()
	if err != nil {
		return nil // there is none that the user could mean
	}
	if own, err = filepath.Abs(own); err != nil {
		return err
	}
	return checkStore(served, own)
}
