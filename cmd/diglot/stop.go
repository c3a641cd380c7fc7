package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/engine"
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
			return stopModels(c.Context(), env, args)
		},
	}
}

func stopModels(ctx context.Context, env environment, args []string) error {
	server, err := dial(env)
	if err != nil {
		return err
	}
	defer server.Close()
	loaded, unreachable := server.Loaded(ctx)
	names, err := namesOf(args, loaded)
	if err := cmp.Or(err, unreachable); err != nil {
		return err
	}
	keyOf := keysOf(ctx, env, server, loaded)
	stopped := map[string]string{} // message by key
	var failed []error
	for _, name := range names {
		k := keyOf(name)
		how, done := stopped[k]
		if !done || k == "" { // otherwise it is another name of a model just stopped
			if how, err = stopModel(ctx, server, name, k); err != nil {
				failed = append(failed, err)
				continue
			}
			stopped[k] = how
		}
		fmt.Fprintf(env.stderr, how+"\n", name)
	}
	return errors.Join(failed...)
}

// namesOf returns the names of the models to stop. The server may have one from a flag
// that no store could have.
func namesOf(args []string, loaded []control.Model) ([]string, error) {
	names := make([]string, len(args))
	for i, arg := range args {
		n, err := parseName(arg)
		switch {
		case err == nil:
			names[i] = n.String()
		case slices.ContainsFunc(loaded, func(m control.Model) bool { return hasName(m, arg) }):
			names[i] = arg
		default:
			return nil, err
		}
	}
	return names, nil
}

// stopModel unloads a model and returns a message with %s for its name.
func stopModel(ctx context.Context, server *control.Client, name, k string) (how string, err error) {
	if err := server.Stop(ctx, name); err != nil {
		return "", err
	}
	gone, err := waitGone(ctx, server, func(m control.Model) bool {
		return m.Stopping && (m.Name == name || key(m) == k) // it may be listed under another name
	})
	if gone {
		return "stopped %s", err
	}
	return "%s stops when its requests have finished", err
}

// keysOf returns a lookup from a name to the key of its model. The server decides what a
// name refers to: a file of --model hides the store's model. The key is empty if
// unknown, as when the server serves another store.
func keysOf(ctx context.Context, env environment, server *control.Client, loaded []control.Model) func(string) string {
	models, err := openStore(env)
	served := err == nil && checkServed(ctx, env, server) == nil
	return func(name string) string {
		if i := slices.IndexFunc(loaded, func(m control.Model) bool { return !m.Stopping && hasName(m, name) }); i >= 0 {
			return key(loaded[i])
		}
		n, err := store.ParseName(name)
		if err != nil || !served {
			return ""
		}
		m, err := models.Model(n)
		if err != nil {
			return ""
		}
		return m.Digest.String()
	}
}

// key tells loaded models apart. A file of --model has no digest.
func key(m control.Model) string { return cmp.Or(m.Digest, m.Name) }

func hasName(m control.Model, name string) bool {
	is := func(other string) bool { return engine.SameModel(store.Shortest(other), store.Shortest(name)) }
	return is(m.Name) || slices.ContainsFunc(m.Others, is)
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
