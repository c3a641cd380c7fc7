package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine/models/credentials"
	"github.com/diglot/diglot/engine/models/modelfile"
	"github.com/diglot/diglot/engine/models/store"
)

// newPull is the command that fetches a model.
func newPull(env environment) *cobra.Command {
	var o transferOptions
	c := &cobra.Command{
		Use:   "pull NAME",
		Short: "Fetch a model from a registry",
		Long: `Fetch a model from a registry. A name without a host is one of Ollama's library; any
OCI registry can be named, and hf.co, with the quantisation as the tag. A pull that
was interrupted goes on where it ended.`,
		Example: `  diglot pull qwen2.5:0.5b
  diglot pull hf.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q4_K_M
  diglot pull registry.example.com/team/model:v1`,
		GroupID: groupRegistry,
		Args:    arguments(1, 1, "the name of a model"),
	}
	o.register(c)
	asJSON := jsonFlag(c, modelMembers)
	c.RunE = func(c *cobra.Command, args []string) error {
		n, err := parseName(args[0])
		if err != nil {
			return err
		}
		store, err := openStore(env)
		if err != nil {
			return err
		}
		m, err := pull(c.Context(), env, store, n, o)
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(env.stdout, toJSON(m))
		}
		return nil
	}
	return c
}

// pull fetches a model and says what the user must know of it.
func pull(ctx context.Context, env environment, store *store.Store, n store.Name, o transferOptions) (*store.Model, error) {
	progress := newProgress(env, o.quiet)
	m, err := openRegistry(env, o).Pull(ctx, store, n, layers(progress))
	progress.Close()
	if err != nil {
		return nil, continuable(ctx, err, "diglot pull "+n.String())
	}
	progress.Say(fmt.Sprintf("%s is here, %s", n, terminal.Size(m.Size)))
	return m, askRemote(env, store, m)
}

// askRemote says of a model that is served elsewhere where that is, and lets
// a person at a terminal allow it. What was pulled never allows it by itself.
func askRemote(env environment, store *store.Store, m *store.Model) error {
	d, err := modelfile.Read(store, m)
	if err != nil {
		fmt.Fprintln(env.stderr, "warning: it cannot be served:", err)
		return nil
	}
	if d.Remote == nil {
		return nil
	}
	host, err := credentials.Host(d.Remote.URL)
	if err != nil {
		return fmt.Errorf("%s is served elsewhere: %w", m.Name, err)
	}
	file, err := openCredentials(env)
	if err != nil {
		return err
	}
	if _, known, err := file.Lookup(host); known || err != nil {
		return err
	}
	short := credentials.Short(host)
	fmt.Fprintf(env.stderr, "%s is served by %s, which gets to see every message to it.\n", m.Name, short)
	if !terminal.Is(env.stdin) || !terminal.Is(env.stderr) {
		fmt.Fprintf(env.stderr, "Nothing is sent there before it is allowed: diglot login %s\n", short)
		return nil
	}
	answer, err := terminal.Ask(env.stdin, env.stderr, "Allow it now, with a key? [y/N] ")
	if err != nil {
		return err
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		fmt.Fprintf(env.stderr, "Nothing is sent there before it is allowed: diglot login %s\n", short)
		return nil
	}
	return login(env, file, host, loginOptions{})
}
