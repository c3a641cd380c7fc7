package main

import (
	"context"
	"encoding/json/jsontext"
	"io"
	"slices"
	"strings"
	"time"

	units "github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/internal/plainjson"
)

func newList(env environment) *cobra.Command {
	c := &cobra.Command{
		Use:        "list [TEXT]",
		Aliases:    []string{"ls"},
		SuggestFor: []string{"images", "models"},
		Short:      "List models on this machine",
		Long:       "List models on this machine, newest first. TEXT lists only those whose names contain it.",
		Example:    "  diglot list\n  diglot list qwen\n  diglot list --json | jq -r '.[].name'",
		GroupID:    groupModels,
		Args:       arguments(0, 1, "at most one TEXT"),
	}
	asJSON := jsonFlag(c, modelFields)
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

// listModels returns the models whose names contain text, whatever the case.
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

// ago writes how long ago t was, such as "2 days ago".
func ago(t time.Time) string { return strings.ToLower(units.HumanDuration(time.Since(t))) + " ago" }

// jsonFlag adds --json. The fields in the help are stable; others may be
// added. Lists are never null, sizes are bytes, and times are RFC 3339.
func jsonFlag(c *cobra.Command, fields string) *bool {
	return c.Flags().Bool("json", false, "print JSON; fields: "+fields)
}

func printJSON(w io.Writer, v any) error {
	text, err := plainjson.Marshal(v, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// modelJSON is a stored model as list, pull and others print it.
type modelJSON struct {
	Name     string    `json:"name"`
	Digest   string    `json:"digest"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified_at"`
}

// modelFields are the fields of modelJSON, for the help.
const modelFields = "name, digest, size, modified_at"

func toJSON(m *store.Model) modelJSON {
	return modelJSON{Name: m.Name.String(), Digest: m.Digest.String(), Size: m.Size, Modified: m.Changed.UTC().Truncate(time.Second)}
}
