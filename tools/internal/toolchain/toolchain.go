// Package toolchain has the settings with which Go compiles llama.cpp.
//
// The flags are in the environment, not in a #cgo line, because only so they
// reach the code of another module. Go's build cache is keyed by them, so all
// tools have them from here.
package toolchain

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// llamaModule is the Go module with llama.cpp's sources.
const llamaModule = "github.com/ollama/ollama"

// Target is what a program is compiled for: Linux on another processor, or the
// operating system and the processor of this machine.
type Target struct {
	Arch  string // as Go names it; empty: this machine's
	Flags string // instruction set, as flags of the compiler

	// Portable leaves out where the sources were, so that the same sources give
	// the same program everywhere.
	Portable bool
}

// CPU returns the flags for a processor by the compiler's name; empty: the local
// one. Without them llama.cpp uses plain SSE2 and is several times slower.
func CPU(arch, name string) string {
	if arch == "arm64" {
		return "-mcpu=" + name
	}
	return "-march=" + name
}

// crossCompilers are Debian's compilers for other processors, without gcc or g++ at
// the end.
var crossCompilers = map[string]string{"arm64": "aarch64-linux-gnu-"}

// crossCompiler is the one for the target's processor.
func (t Target) crossCompiler() (string, error) {
	compiler, ok := crossCompilers[t.Arch]
	if !ok {
		return "", fmt.Errorf("no compiler for %q is known here; there is only %s", t.Arch, strings.Join(slices.Sorted(maps.Keys(crossCompilers)), " and "))
	}
	return compiler, nil
}

// crosses reports whether the target is another processor than this machine's.
func (t Target) crosses() bool { return t.Arch != "" && t.Arch != runtime.GOARCH }

// Environment returns the process's environment with the settings of Go and
// cgo. It downloads llama.cpp first.
func (t Target) Environment(ctx context.Context) ([]string, error) {
	if _, err := output(ctx, "go", "mod", "download", llamaModule); err != nil {
		return nil, err
	}
	module, err := output(ctx, "go", "list", "-m", "-f", "{{.Dir}} {{.Path}}@{{.Version}}", llamaModule)
	if err != nil {
		return nil, err
	}
	folder, name, _ := strings.Cut(module, " ")
	preprocessor := preprocessorFlags(folder)
	if t.Portable {
		preprocessor = append(preprocessor, "-ffile-prefix-map="+folder+"="+name)
	}
	flags := "-O3 " + t.Flags
	env := append(os.Environ(), "CGO_ENABLED=1", "CGO_CPPFLAGS="+strings.Join(preprocessor, " "), "CGO_CFLAGS="+flags, "CGO_CXXFLAGS="+flags)
	if !t.crosses() {
		return env, nil
	}
	compiler, err := t.crossCompiler()
	if err != nil {
		return nil, err
	}
	return append(env, "GOOS=linux", "GOARCH="+t.Arch, "CC="+compiler+"gcc", "CXX="+compiler+"g++"), nil
}

// preprocessorFlags has the folders of llama.cpp's headers: the public ones, and
// those for buffer types and kernels.
func preprocessorFlags(llama string) []string {
	return []string{
		"-I" + filepath.Join(llama, "llama/llama.cpp/include"),
		"-I" + filepath.Join(llama, "ml/backend/ggml/ggml/include"),
		"-I" + filepath.Join(llama, "ml/backend/ggml/ggml/src"),
		"-I" + filepath.Join(llama, "ml/backend/ggml/ggml/src/ggml-cpu"),
		// The module's own build omits weight repacking, which makes prefill a
		// tenth faster.
		"-DGGML_USE_CPU_REPACK",
		// Nor has it the kernels for AMX, which llama.cpp would call on a CPU that
		// has it.
		"-U__AMX_INT8__",
	}
}

// FindCompiler fails early, with a better message than cgo's.
func (t Target) FindCompiler() error {
	candidates := []string{"g++", "clang++"}
	if own := os.Getenv("CXX"); own != "" {
		candidates = []string{strings.Fields(own)[0]}
	}
	if t.crosses() {
		compiler, err := t.crossCompiler()
		if err != nil {
			return err
		}
		candidates = []string{compiler + "g++"}
	}
	for _, name := range candidates {
		if _, err := exec.LookPath(name); err == nil {
			return nil
		}
	}
	return fmt.Errorf("llama.cpp needs a C++ compiler, and there is no %s "+
		"(Debian: apt-get install g++, or g++-aarch64-linux-gnu for arm64; Fedora: dnf install gcc-c++; macOS: xcode-select --install)",
		strings.Join(candidates, " or "))
}

// output runs a command and returns its stdout. Errors include its stderr.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, said.String())
	}
	return strings.TrimSpace(string(out)), nil
}
