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

func newStop(env environment) *cobra.Command {
	return &cobra.Command{
		Use:               "stop NAME...",
		Short:             "Unload models",
		Long:              "Unload models. Running requests finish first.",
		Example:           "  diglot stop qwen2.5:0.5b",
		GroupID:           groupServer,
		Args:              arguments(1, anyNumber, "at least one model name"),
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
	stopped := map[string]string{} // message by digest
	var failed []error
	for _, n := range names {
		d := digest(n)
		how, done := stopped[d]
		if !done || d == "" { // otherwise it is another name of a model just stopped
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

// stopModel unloads a model and returns a message with %s for its name.
func stopModel(ctx context.Context, server *control.Client, n store.Name, digest string) (how string, err error) {
	if err := server.Stop(ctx, n.String()); err != nil {
		return "", err
	}
	gone, err := waitGone(ctx, server, func(m control.Model) bool {
		return m.Stopping && (m.Name == n.String() || digest != "" && m.Digest == digest) // it may be listed under another name
	})
	if gone {
		return "stopped %s", err
	}
	return "%s stops when its requests have finished", err
}

// digestsOf returns a lookup from a model's name to its digest. The digest is
// empty if unknown, as when the server serves another store.
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
	// unloadTimeout is how long stop waits for the model to be unloaded.
	// Running requests may take longer.
	unloadTimeout = 5 * time.Second

	// pollInterval is the time between two checks.
	pollInterval = 20 * time.Millisecond
)

// waitGone waits up to unloadTimeout until the server lists no such model.
func waitGone(ctx context.Context, server *control.Client, is func(control.Model) bool) (bool, error) {
	end := time.After(unloadTimeout)
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
		case <-time.After(pollInterval):
		}
	}
}
