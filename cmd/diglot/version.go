package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/build"
	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/engine/local/confine"
)

// newVersion is the command that says what this program is made of.
func newVersion(env environment) *cobra.Command {
	c := &cobra.Command{
		Use:     "version",
		Short:   "Say what this program is made of, and which server runs",
		GroupID: groupMore,
		Args:    noArguments,
	}
	asJSON := jsonFlag(c, "version, revision, go, llamacpp (absent in a build without it), confined (what holds the process of a model here), server (absent where none runs)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *asJSON {
			return versionAsJSON(c.Context(), env)
		}
		return version(c.Context(), env)
	}
	return c
}

// versionJSON is what version prints.
type versionJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Llamacpp string `json:"llamacpp,omitempty"`
	Confined string `json:"confined"`
	Server   string `json:"server,omitempty"`
}

func versionAsJSON(ctx context.Context, env environment) error {
	info, err := build.Info()
	if err != nil {
		return err
	}
	v := versionJSON{Version: info.Main.Version, Revision: build.Setting(info, "vcs.revision"), Go: info.GoVersion, Confined: confine.Supported().String()}
	if m := build.Llamacpp(info); m != nil {
		v.Llamacpp = m.Path + " " + m.Version
	}
	if v.Server, err = serverVersion(ctx, env); err != nil {
		return err
	}
	return printJSON(env.stdout, v)
}

func version(ctx context.Context, env environment) error {
	info, err := build.Info()
	if err != nil {
		return err
	}
	printVersion(env.stdout, info)
	fmt.Fprintln(env.stdout, "what holds the process of a model here:", confine.Supported())
	server, err := serverVersion(ctx, env)
	if server != "" {
		fmt.Fprintln(env.stdout, "server", server)
	}
	return err
}

// serverVersion is that of the server of this user; empty: none runs.
func serverVersion(ctx context.Context, env environment) (string, error) {
	server, err := dial(env)
	if err != nil {
		return "", nil // without a home there is no socket
	}
	defer server.Close()
	version, err := server.Version(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return "", nil
	}
	return version, err
}

func printVersion(w io.Writer, info *debug.BuildInfo) {
	fmt.Fprintln(w, "diglot", info.Main.Version)
	if revision := build.Setting(info, "vcs.revision"); revision != "" {
		if build.Setting(info, "vcs.modified") == "true" {
			revision += ", modified"
		}
		fmt.Fprintln(w, "revision", revision)
	}
	fmt.Fprintln(w, "built with", info.GoVersion)
	if m := build.Llamacpp(info); m != nil {
		fmt.Fprintf(w, "llama.cpp of %s %s\n", m.Path, m.Version)
	} else {
		fmt.Fprintln(w, "no llama.cpp in this build: it serves scripts only")
	}
}
