package main

import (
	"context"
	"slices"
	"strings"
	"time"

	units "github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine/models/store"
)

// newList is the command that lists the models of the store.
func newList(env environment) *cobra.Command {
	c := &cobra.Command{
		Use:        "list [TEXT]",
		Aliases:    []string{"ls"},
		SuggestFor: []string{"images", "models"},
		Short:      "List the models on this machine, the newest first",
		Long:       "List the models on this machine, the newest first; with TEXT, those that have it in their names.",
		Example:    "  diglot list\n  diglot list qwen\n  diglot list --json | jq -r '.[].name'",
		GroupID:    groupModels,
		Args:       arguments(0, 1, "one text at most"),
	}
	asJSON := jsonFlag(c, "a list of "+modelMembers)
	c.RunE = func(c *cobra.Command, args []string) error {
		models, err := listModels(c.Context(), env, strings.Join(args, ""))
		if err != nil {
			return err
		}
		if *asJSON {
			return printModels(env, models)
		}
		rows := [][]string{}
		for _, m := range models {
			rows = append(rows, []string{m.Name.String(), shortID(m), terminal.Size(m.Size), ago(m.Changed)})
		}
		return terminal.Table(env.stdout, []string{"NAME", "ID", "SIZE", "MODIFIED"}, rows)
	}
	return c
}

func printModels(env environment, models []*store.Model) error {
	all := []modelJSON{}
	for _, m := range models {
		all = append(all, toJSON(m))
	}
	return printJSON(env.stdout, all)
}

// listModels gives the models that have text in their names.
func listModels(ctx context.Context, env environment, text string) ([]*store.Model, error) {
	opened, err := openStore(env)
	if err != nil {
		return nil, err
	}
	models, err := opened.List(ctx)
	return slices.DeleteFunc(models, func(m *store.Model) bool {
		return !strings.Contains(strings.ToLower(m.Name.String()), strings.ToLower(text))
	}), err
}

// ago says for a person when something was.
func ago(t time.Time) string { return strings.ToLower(units.HumanDuration(time.Since(t))) + " ago" }
