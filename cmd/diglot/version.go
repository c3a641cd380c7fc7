package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/build"
	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/engine/local/confine"
)

func newVersion(env environment) *cobra.Command {
	c := &cobra.Command{
		Use:     "version",
		Short:   "Show version information",
		GroupID: groupMore,
		Args:    noArguments,
	}
	asJSON := jsonFlag(c, "version, revision, go, llamacpp (absent in a build without it), variant (of a release: the one that runs models), confined (sandbox of model processes), server (version of the running server)")
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
	Variant  string `json:"variant,omitempty"`
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
	runs, err := modelProgram(env)
	if err != nil {
		return err
	}
	v.Variant = runs.Variant
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
	runs, err := modelProgram(env)
	if err != nil {
		return err
	}
	printVariant(env.stdout, runs)
	fmt.Fprintln(env.stdout, "sandbox of model processes:", confine.Supported())
	server, err := serverVersion(ctx, env)
	if server != "" {
		fmt.Fprintln(env.stdout, "server", server)
	}
	return err
}

// modelProgram is the program that runs models.
func modelProgram(env environment) (process.Program, error) {
	program, err := os.Executable()
	if err != nil {
		return process.Program{}, err
	}
	return process.ForThisProcessor(program, env.getenv("DIGLOT_VARIANT"))
}

// printVariant tells which variant of a release runs models.
func printVariant(w io.Writer, runs process.Program) {
	if runs.Variant == "" {
		return
	}
	fmt.Fprintf(w, "models run as %s: %s\n", runs.Variant, runs.Path)
	if runs.Warning != "" {
		fmt.Fprintln(w, "warning:", runs.Warning)
	}
}

// serverVersion is the version of the running server, or empty.
func serverVersion(ctx context.Context, env environment) (string, error) {
	server, err := dial(env)
	if err != nil {
		return "", nil // no home directory, so no socket
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
		fmt.Fprintf(w, "llama.cpp from %s %s\n", m.Path, m.Version)
	} else {
		fmt.Fprintln(w, "built without llama.cpp: serves only scripts and remote models")
	}
}
