package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/engine"
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
	if err := stopIfLoaded(ctx, env, n.String()); err != nil {
		fmt.Fprintf(env.stderr, "the server may still have %s loaded: %v\n", n, err)
	}
	return nil
}

// stopIfLoaded unloads a model in the running server, if there is one and it
// still knows the model.
func stopIfLoaded(ctx context.Context, env environment, name string) error {
	server, err := dial(env)
	if err != nil {
		return err
	}
	defer server.Close()
	err = server.Stop(ctx, name)
	if errors.Is(err, control.ErrNotRunning) || exit.HasCode(err, engine.CodeModelNotFound) {
		return nil
	}
	return err
}
