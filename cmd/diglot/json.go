package main

import (
	"encoding/json/jsontext"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/internal/plainjson"
)

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
