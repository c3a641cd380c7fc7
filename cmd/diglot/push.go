package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newPush is the command that sends a model to a registry.
func newPush(env environment) *cobra.Command {
	var o transferOptions
	c := &cobra.Command{
		Use:   "push NAME",
		Short: "Send a model to the registry that its name begins with",
		Long: `Send a model to the registry that its name begins with. Only what the registry does
not have yet is sent. "docker login" has the key.`,
		Example:           "  diglot cp mine registry.example.com/team/mine:v1\n  diglot push registry.example.com/team/mine:v1",
		GroupID:           groupRegistry,
		Args:              arguments(1, 1, "the name of a model"),
		ValidArgsFunction: completeModels(env, 1),
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
		progress.Say(fmt.Sprintf("%s has %s now", n.Host, n))
		if *asJSON {
			return printJSON(env.stdout, toJSON(m))
		}
		return nil
	}
	return c
}
