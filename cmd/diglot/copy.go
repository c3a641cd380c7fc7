package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCopy(env environment) *cobra.Command {
	return &cobra.Command{
		Use:        "cp SOURCE NAME",
		SuggestFor: []string{"tag", "copy", "alias"},
		Short:      "Copy a model to a new name",
		Long: `Copy a model to a new name, such as one that a client insists on. Both share their
files on disk. An existing model of the new name is replaced.`,
		Example:           "  diglot cp qwen2.5:0.5b gpt-4o",
		GroupID:           groupModels,
		Args:              arguments(2, 2, "a model name and a new name"),
		ValidArgsFunction: completeModels(env, 1),
		RunE: func(c *cobra.Command, args []string) error {
			names, err := parseNames(args)
			if err != nil {
				return err
			}
			store, err := openStore(env)
			if err != nil {
				return err
			}
			if err := store.Copy(c.Context(), names[0], names[1]); err != nil {
				return hintAtServer(c.Context(), env, names[0], err)
			}
			fmt.Fprintf(env.stderr, "copied %s to %s\n", names[0], names[1])
			return nil
		},
	}
}
