package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
)

// completeModels makes shells complete the first so many arguments with the
// names of models in the store.
func completeModels(env environment, most int) cobra.CompletionFunc {
	return completeNames(most, func(ctx context.Context) []string {
		models, err := listModels(ctx, env, "")
		if err != nil {
			return nil
		}
		var names []string
		for _, m := range models {
			names = append(names, m.Name.String())
		}
		return names
	})
}

// completeLoaded does so with the names of models that the server has loaded.
func completeLoaded(env environment, most int) cobra.CompletionFunc {
	return completeNames(most, func(ctx context.Context) []string {
		server, err := dial(env)
		if err != nil {
			return nil
		}
		defer server.Close()
		loaded, err := server.Loaded(ctx)
		if err != nil {
			return nil
		}
		var names []string
		for _, m := range loaded {
			names = append(names, m.Name)
		}
		return names
	})
}

// completeNames leaves out what was given already. Where names cannot be had
// there is no completion: a shell has no place for an error.
func completeNames(most int, names func(context.Context) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most != anyNumber && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		left := slices.DeleteFunc(names(c.Context()), func(name string) bool { return slices.Contains(args, name) })
		return left, cobra.ShellCompDirectiveNoFileComp
	}
}
