package main

import (
	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/process"
)

// newRunner is the command of the process of one model. serve starts it, by
// [process.Command].
func newRunner(env environment) *cobra.Command {
	var files process.Files
	var model process.Model
	c := &cobra.Command{
		Use:    "runner",
		Short:  "Compute one model; diglot serve starts it",
		Hidden: true,
		Args:   noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(files) != 1 {
				return exit.Usage("runner: want one --model; this command is for diglot serve to start")
			}
			model.File = files[0]
			return process.Run(c.Context(), model, env.getenv, env.stderr)
		},
	}
	c.Flags().Var(&files, "model", "`NAME=FILE[,PROJECTOR]` to serve")
	model.Limits.Register(c.Flags())
	model.Changes.Register(c.Flags())
	c.Flags().Var(&model.Memory, "memory", "`memory` that the model may take (default what the machine has)")
	return c
}
