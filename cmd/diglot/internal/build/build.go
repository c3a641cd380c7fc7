// Package build reports the version of this program and its modules.
package build

import (
	"errors"
	"runtime/debug"
	"slices"
	"strings"
)

// binding is the module that contains llama.cpp.
const binding = "github.com/ollama/ollama"

// Info is the build information that the linker embedded.
func Info() (*debug.BuildInfo, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, errors.New("unknown version: this program was built without module support")
	}
	return info, nil
}

// Version is the module version of this program, or "unknown".
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// HasLlamacpp reports whether this build can run models.
func HasLlamacpp() bool {
	info, ok := debug.ReadBuildInfo()
	return !ok || Llamacpp(info) != nil // without build info, the model's process reports it
}

// Llamacpp is the module that llama.cpp came from, or nil in a build without
// it. Such a build may still use other packages of the module.
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

// Setting is a build setting such as -tags, or empty.
func Setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
