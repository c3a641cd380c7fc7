package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// newVersion is the command that says what this program is made of.
func newVersion(env environment) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Say what this program is made of",
		GroupID: groupMore,
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return version(env) },
	}
}

func version(env environment) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("this program was built without module support, and does not know its version")
	}
	printVersion(env.stdout, info)
	return nil
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
