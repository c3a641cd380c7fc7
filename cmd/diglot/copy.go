package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newCopy is the command that gives a model a second name.
func newCopy(env environment) *cobra.Command {
	return &cobra.Command{
		Use:        "cp SOURCE NAME",
		SuggestFor: []string{"tag", "copy", "alias"},
		Short:      "Give a model a second name",
		Long: `Give a model a second name, such as the one that a client asks for. Nothing is
copied on disk. A model that had the name before is replaced.`,
		Example:           "  diglot cp qwen2.5:0.5b gpt-4o",
		GroupID:           groupModels,
		Args:              arguments(2, 2, "the name of a model, and its new name"),
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
			fmt.Fprintf(env.stderr, "%s is now also called %s\n", names[0], names[1])
			return nil
		},
	}
}
