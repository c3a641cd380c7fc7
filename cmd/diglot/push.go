package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newPush(env environment) *cobra.Command {
	var o transferOptions
	c := &cobra.Command{
		Use:   "push NAME",
		Short: "Push a model to a registry",
		Long: `Push a model to the registry that its name begins with. Layers that the registry
already has are skipped. Use "docker login" for registries that need credentials.`,
		Example:           "  diglot cp mine registry.example.com/team/mine:v1\n  diglot push registry.example.com/team/mine:v1",
		GroupID:           groupRegistry,
		Args:              arguments(1, 1, "a model name"),
		ValidArgsFunction: completeModels(env, 1),
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
		m, err := store.Model(n)
		if err != nil {
			return err
		}
		progress := newProgress(env, o.quiet)
		err = openRegistry(env, o).Push(c.Context(), store, n, layers(progress))
		progress.Close()
		if err != nil {
			return continuable(c.Context(), err, "diglot push "+n.String())
		}
		progress.Say(fmt.Sprintf("pushed %s", n))
		if *asJSON {
			return printJSON(env.stdout, toJSON(m))
		}
		return nil
	}
	return c
}
