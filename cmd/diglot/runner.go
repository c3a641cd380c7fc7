package main

import (
	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/process"
)

// newRunner makes the command that runs one model in a process of its own.
// serve starts it by [process.Command].
func newRunner(env environment) *cobra.Command {
	var files process.Files
	var model process.Model
	c := &cobra.Command{
		Use:    "runner",
		Short:  "Run one model (started by serve)",
		Hidden: true,
		Args:   noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(files) != 1 {
				return exit.Usage("runner: want one --model; this command is started by diglot serve")
			}
			model.File = files[0]
			return process.Run(c.Context(), model, env.getenv, env.stderr)
		},
	}
	c.Flags().Var(&files, "model", "serve `NAME=FILE[,FILE...]`")
	c.Flags().StringVar(&model.Imagegen, "imagegen", "", "library of the image engine, `FILE`")
	model.Limits.Register(c.Flags())
	model.Changes.Register(c.Flags())
	c.Flags().Var(&model.Memory, "memory", "limit the memory of the model to `SIZE` (default what the machine has)")
	return c
}
