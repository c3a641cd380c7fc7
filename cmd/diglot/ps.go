package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	units "github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine/models/credentials"
)

func newPs(env environment) *cobra.Command {
	c := &cobra.Command{
		Use:     "ps",
		Short:   "List loaded models",
		GroupID: groupServer,
		Args:    noArguments,
	}
	asJSON := jsonFlag(c, "name, others (its other names in use), digest, size (of memory), context (tokens), until (absent: stays loaded), requests, loading, stopping, remote (URL of the server that has the model), step and of (of the image that is being drawn)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		server, err := dial(env)
		if err != nil {
			return err
		}
		defer server.Close()
		loaded, err := server.Loaded(c.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(env.stdout, append([]control.Model{}, loaded...))
		}
		rows := [][]string{}
		for _, m := range loaded {
			rows = append(rows, loadedRow(m))
		}
		return terminal.Table(env.stdout, []string{"NAME", "ID", "SIZE", "CONTEXT", "UNTIL"}, rows)
	}
	return c
}

func loadedRow(m control.Model) []string {
	size, context := "-", "-"
	if m.Size > 0 {
		size = terminal.Size(m.Size)
	}
	if m.Remote != "" {
		size = "at " + hostOf(m.Remote)
	}
	if m.Context > 0 {
		context = strconv.Itoa(m.Context)
	}
	_, id, _ := strings.Cut(m.Digest, ":")
	return []string{strings.Join(append([]string{m.Name}, m.Others...), ", "), id[:min(12, len(id))], size, context, until(m)}
}

// hostOf is the host of a URL as login writes it.
func hostOf(address string) string {
	host, err := credentials.Host(address)
	if err != nil {
		return address
	}
	return credentials.Short(host)
}

// until describes when a model is unloaded.
func until(m control.Model) string {
	switch {
	case m.Loading:
		return "loading"
	case m.Stopping:
		return "stopping"
	case m.Of > 0:
		return fmt.Sprintf("step %d of %d", m.Step, m.Of)
	case m.Until != nil:
		return "in " + strings.ToLower(units.HumanDuration(max(time.Until(*m.Until), 0)))
	case m.Requests > 0:
		return "in use"
	}
	return "forever"
}
