package main

import (
	"fmt"

	"github.com/spf13/cobra"
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
			if err := server.Load(c.Context(), n.String()); err != nil {
				return err
			}
			fmt.Fprintf(env.stderr, "%s is ready\n", n)
			return nil
		},
	}
}
