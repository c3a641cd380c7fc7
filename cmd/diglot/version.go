package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
	info, err := buildInfo()
	if err != nil {
		return err
	}
	v := versionJSON{Version: info.Main.Version, Revision: setting(info, "vcs.revision"), Go: info.GoVersion, Confined: confine.Supported().String()}
	if m := llamacppModule(info); m != nil {
		v.Llamacpp = m.Path + " " + m.Version
	}
	if v.Server, err = serverVersion(ctx, env); err != nil {
		return err
	}
	return printJSON(env.stdout, v)
}

func version(ctx context.Context, env environment) error {
	info, err := buildInfo()
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

func buildInfo() (*debug.BuildInfo, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, errors.New("this program was built without module support, and does not know its version")
	}
	return info, nil
}

// binding is the module that carries llama.cpp.
const binding = "github.com/ollama/ollama"

func printVersion(w io.Writer, info *debug.BuildInfo) {
	fmt.Fprintln(w, "diglot", info.Main.Version)
	if revision := setting(info, "vcs.revision"); revision != "" {
		if setting(info, "vcs.modified") == "true" {
			revision += ", modified"
		}
		fmt.Fprintln(w, "revision", revision)
	}
	fmt.Fprintln(w, "built with", info.GoVersion)
	if m := llamacppModule(info); m != nil {
		fmt.Fprintf(w, "llama.cpp of %s %s\n", m.Path, m.Version)
	} else {
		fmt.Fprintln(w, "no llama.cpp in this build: it serves scripts only")
	}
}

// llamacppModule is the module that llama.cpp came from; nil in a build
// without it, which may have other packages of the module.
func llamacppModule(info *debug.BuildInfo) *debug.Module {
	tags := strings.Split(setting(info, "-tags"), ",")
	if !slices.Contains(tags, "llamacpp") || setting(info, "CGO_ENABLED") != "1" {
		return nil
	}
	i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == binding })
	if i < 0 {
		return nil
	}
	return info.Deps[i]
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
