// Package build knows what this program is made of.
package build

import (
	"errors"
	"runtime/debug"
	"slices"
	"strings"
)

// binding is the module that carries llama.cpp.
const binding = "github.com/ollama/ollama"

// Info is what the linker wrote into the program.
func Info() (*debug.BuildInfo, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, errors.New("this program was built without module support, and does not know its version")
	}
	return info, nil
}

// Version is what the commands of this user are told.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// HasLlamacpp reports whether this build can compute models.
func HasLlamacpp() bool {
	info, ok := debug.ReadBuildInfo()
	return !ok || Llamacpp(info) != nil // where it is not known, the process of a model will tell
}

// Llamacpp is the module that llama.cpp came from; nil in a build
// without it, which may have other packages of the module.
func Llamacpp(info *debug.BuildInfo) *debug.Module {
	tags := strings.Split(Setting(info, "-tags"), ",")
	if !slices.Contains(tags, "llamacpp") || Setting(info, "CGO_ENABLED") != "1" {
		return nil
	}
	i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == binding })
	if i < 0 {
		return nil
	}
	return info.Deps[i]
}

// Setting is one of the build, such as -tags; empty: there is none.
func Setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
