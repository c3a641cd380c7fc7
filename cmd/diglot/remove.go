package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/engine/models/store"
)

func newRemove(env environment) *cobra.Command {
	return &cobra.Command{
		Use:        "rm NAME...",
		SuggestFor: []string{"rmi", "remove", "delete", "del", "uninstall"},
		Short:      "Remove models",
		Long: `Remove models from this machine. Files shared with other models stay. A running
server unloads the models when their requests have finished.`,
		Example:           "  diglot rm gpt-4o\n  diglot rm qwen2.5:0.5b qwen2.5:7b",
		GroupID:           groupModels,
		Args:              arguments(1, anyNumber, "at least one model name"),
		ValidArgsFunction: completeModels(env, anyNumber),
		RunE: func(c *cobra.Command, args []string) error {
			names, err := parseNames(args)
			if err != nil {
				return err
			}
			store, err := openStore(env)
			if err != nil {
				return err
			}
			var failed []error
			for _, n := range names {
				if err := removeModel(c.Context(), env, store, n); err != nil {
					failed = append(failed, err)
				}
			}
			return errors.Join(failed...)
		},
	}
}

func removeModel(ctx context.Context, env environment, store *store.Store, n store.Name) error {
	if err := store.Remove(ctx, n); err != nil {
		return err
	}
	fmt.Fprintf(env.stderr, "removed %s\n", n)
	if err := unloadRemoved(ctx, env); err != nil {
		fmt.Fprintf(env.stderr, "the server may still have %s loaded: %v\n", n, err)
	}
	return nil
}

// unloadRemoved has the running server, if there is one, unload what is no longer in its
// store. A file of --model with the name of a removed model stays.
func unloadRemoved(ctx context.Context, env environment) error {
	server, err := dial(env)
	if err != nil {
		return err
	}
	defer server.Close()
	if _, err := server.Loaded(ctx); !errors.Is(err, control.ErrNotRunning) { // it looks at the store before it lists
		return err
	}
	return nil
}
