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

func newPull(env environment) *cobra.Command {
	var o transferOptions
	c := &cobra.Command{
		Use:   "pull NAME",
		Short: "Pull a model from a registry",
		Long: `Pull a model from a registry. A name without a host is from the Ollama library; other
names start with an OCI registry, or with hf.co and have the quantization as their tag.
An interrupted pull resumes.`,
		Example: `  diglot pull qwen2.5:0.5b
  diglot pull hf.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF:Q4_K_M
  diglot pull registry.example.com/team/model:v1`,
		GroupID: groupRegistry,
		Args:    arguments(1, 1, "a model name"),
	}
	o.register(c)
	asJSON := jsonFlag(c, modelFields)
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

// pull pulls a model, and asks whether its remote server may be used if it has
// one.
func pull(ctx context.Context, env environment, store *store.Store, n store.Name, o transferOptions) (*store.Model, error) {
	progress := newProgress(env, o.quiet)
	m, err := openRegistry(env, o).Pull(ctx, store, n, layers(progress))
	progress.Close()
	if err != nil {
		return nil, continuable(ctx, err, "diglot pull "+n.String())
	}
	progress.Say(fmt.Sprintf("pulled %s, %s", n, terminal.Size(m.Size)))
	return m, askRemote(env, store, m)
}

// askRemote names the server of a remote model, and at a terminal asks whether
// it is allowed. A pulled model never allows its server by itself.
func askRemote(env environment, store *store.Store, m *store.Model) error {
	d, err := modelfile.Read(store, m)
	if err != nil {
		fmt.Fprintln(env.stderr, "warning: the model cannot be served:", err)
		return nil
	}
	if d.Remote == nil {
		return nil
	}
	host, err := credentials.Host(d.Remote.URL)
	if err != nil {
		return fmt.Errorf("%s is a remote model: %w", m.Name, err)
	}
	file, err := openCredentials(env)
	if err != nil {
		return err
	}
	if _, known, err := file.Lookup(host); known || err != nil {
		return err
	}
	short := credentials.Short(host)
	fmt.Fprintf(env.stderr, "%s runs on %s, which receives every message sent to it.\n", m.Name, short)
	if terminal.Is(env.stdin) && terminal.Is(env.stderr) {
		answer, err := terminal.Ask(env.stdin, env.stderr, "Allow it and enter its API key now? [y/N] ")
		if err != nil {
			return err
		}
		if answer = strings.ToLower(answer); answer == "y" || answer == "yes" {
			return login(env, file, host, loginOptions{})
		}
	}
	fmt.Fprintf(env.stderr, "Nothing is sent there until you allow it: diglot login %s\n", short)
	return nil
}
