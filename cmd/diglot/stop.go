package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/engine/modelstore"
)

// newStop is the command that has the server let go of models.
func newStop(env environment) *cobra.Command {
	return &cobra.Command{
		Use:   "stop NAME...",
		Short: "Have the server let go of models that it has loaded",
		Long: `Have the server let go of models that it has loaded. Requests that run are
answered first.`,
		Example:           "  diglot stop qwen2.5:0.5b",
		GroupID:           groupServer,
		Args:              arguments(1, anyNumber, "the names of models"),
		ValidArgsFunction: completeLoaded(env, anyNumber),
		RunE: func(c *cobra.Command, args []string) error {
			names, err := parseNames(args)
			if err != nil {
				return err
			}
			return stopModels(c.Context(), env, names)
		},
	}
}

func stopModels(ctx context.Context, env environment, names []modelstore.Name) error {
	server, err := dial(env)
	if err != nil {
		return err
	}
	defer server.Close()
	var failed []error
	for _, n := range names {
		if err := server.Stop(ctx, n.String()); err != nil {
			failed = append(failed, err)
			continue
		}
		fmt.Fprintf(env.stderr, "stopped %s\n", n)
	}
	return errors.Join(failed...)
}
