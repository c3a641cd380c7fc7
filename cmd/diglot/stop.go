package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/engine/models/store"
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

func stopModels(ctx context.Context, env environment, names []store.Name) error {
	server, err := dial(env)
	if err != nil {
		return err
	}
	defer server.Close()
	digest := digestsOf(ctx, env, server)
	stopped := map[string]string{} // by digest, what was said
	var failed []error
	for _, n := range names {
		d := digest(n)
		how, done := stopped[d]
		if !done || d == "" { // else it is another name of a model that was just stopped
			if how, err = stopModel(ctx, server, n, d); err != nil {
				failed = append(failed, err)
				continue
			}
			stopped[d] = how
		}
		fmt.Fprintf(env.stderr, how+"\n", n)
	}
	return errors.Join(failed...)
}

// stopModel says, around the model's name, what has become of it.
func stopModel(ctx context.Context, server *control.Client, n store.Name, digest string) (how string, err error) {
	if err := server.Stop(ctx, n.String()); err != nil {
		return "", err
	}
	gone, err := waitGone(ctx, server, func(m control.Model) bool {
		return m.Stopping && (m.Name == n.String() || digest != "" && m.Digest == digest) // it may be listed by another of its names
	})
	if gone {
		return "stopped %s", err
	}
	return "%s stops once its requests have ended", err
}

// digestsOf gives what a model is known by under all of its names; empty:
// nothing, as in a server whose models are not those of this user's store.
func digestsOf(ctx context.Context, env environment, server *control.Client) func(store.Name) string {
	unknown := func(store.Name) string { return "" }
	if checkServed(ctx, env, server) != nil {
		return unknown
	}
	models, err := openStore(env)
	if err != nil {
		return unknown
	}
	return func(n store.Name) string {
		m, err := models.Model(n)
		if err != nil {
			return ""
		}
		return m.Digest.String()
	}
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
