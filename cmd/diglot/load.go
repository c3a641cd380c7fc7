package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
)

func newLoad(env environment) *cobra.Command {
	return &cobra.Command{
		Use:               "load NAME",
		Short:             "Load a model before its first request",
		Example:           "  diglot load qwen2.5:0.5b",
		GroupID:           groupServer,
		Args:              arguments(1, 1, "a model name"),
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
			fmt.Fprintf(env.stderr, "loaded %s\n", n)
			return nil
		},
	}
}

// checkServed is [checkStore] for a command that does not open the store.
func checkServed(ctx context.Context, env environment, server *control.Client) error {
	served, err := server.Models(ctx)
	if err != nil {
		return err
	}
	own, err := places.Find(env.getenv).ModelsDir()
	if err != nil {
		return nil // this command has no store to differ from
	}
	if own, err = filepath.Abs(own); err != nil {
		return err
	}
	return checkStore(served, own)
}
