package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/control"
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
		if err := stopModel(ctx, env, server, n); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func stopModel(ctx context.Context, env environment, server *control.Client, n modelstore.Name) error {
	if err := server.Stop(ctx, n.String()); err != nil {
		return err
	}
	gone, err := waitGone(ctx, server, stoppedAs(env, n))
	switch {
	case err != nil:
		return err
	case gone:
		fmt.Fprintf(env.stderr, "stopped %s\n", n)
	default:
		fmt.Fprintf(env.stderr, "%s stops once its requests have ended\n", n)
	}
	return nil
}

// stoppedAs recognises a model in the server's list, where it may have
// another of its names.
func stoppedAs(env environment, n modelstore.Name) func(control.Model) bool {
	digest := ""
	if store, err := openStore(env); err == nil {
		if m, err := store.Model(n); err == nil {
			digest = m.Digest.String()
		}
	}
	return func(m control.Model) bool { return m.Stopping && (m.Digest == digest || m.Name == n.String()) }
}

const (
	// patience is how long stop waits for the memory to be free. Requests may
	// take longer, and nobody need wait for them.
	patience = 5 * time.Second

	// glance is how long it waits between two looks.
	glance = 20 * time.Millisecond
)

// waitGone waits until the server lists no such model, but not for long.
func waitGone(ctx context.Context, server *control.Client, is func(control.Model) bool) (bool, error) {
	end := time.After(patience)
	for {
		loaded, err := server.Loaded(ctx)
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(loaded, is) {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-end:
			return false, nil
		case <-time.After(glance):
		}
	}
}
