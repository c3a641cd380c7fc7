package main

import (
	"cmp"
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

// environment returns the process's environment with the cgo settings of
// llama.cpp.
func environment(ctx context.Context) ([]string, error) {
	if _, err := output(ctx, "go", "mod", "download", llamaModule); err != nil {
		return nil, err
	}
	llama, err := output(ctx, "go", "list", "-m", "-f", "{{.Dir}}", llamaModule)
	if err != nil {
		return nil, err
	}
	cpu, cross := os.Getenv("DIGLOT_CPU"), os.Getenv("DIGLOT_ARCH")
	env := append(os.Environ(), "CGO_ENABLED=1", "CGO_CPPFLAGS="+strings.Join(preprocessorFlags(llama), " "))
	if cross == "" || cross == runtime.GOARCH {
		flags := optimise(runtime.GOARCH, cpu)
		return append(env, "CGO_CFLAGS="+flags, "CGO_CXXFLAGS="+flags), nil
	}
	compiler, ok := crossCompilers[cross]
	if !ok {
		return nil, fmt.Errorf("DIGLOT_ARCH is %q; there is only %s", cross, strings.Join(slices.Sorted(maps.Keys(crossCompilers)), " and "))
	}
	flags := optimise(cross, cmp.Or(cpu, "generic"))
	return append(env, "GOOS=linux", "GOARCH="+cross, "CC="+compiler+"gcc", "CXX="+compiler+"g++", "CGO_CFLAGS="+flags, "CGO_CXXFLAGS="+flags), nil
}

// crossCompilers are Debian's compilers for other processors, without gcc or g++ at
// the end.
var crossCompilers = map[string]string{"arm64": "aarch64-linux-gnu-"}

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

// optimise returns flags for a CPU by the compiler's name; empty: the local one.
// Without them llama.cpp uses plain SSE2 and is several times slower.
func optimise(arch, cpu string) string {
	if cpu == "" {
		cpu = "native"
	}
	if arch == "arm64" {
		return "-O3 -mcpu=" + cpu
	}
	return "-O3 -march=" + cpu
}

// findCompiler fails early, with a better message than cgo's.
func findCompiler() error {
	candidates := []string{"g++", "clang++"}
	if own := os.Getenv("CXX"); own != "" {
		candidates = []string{strings.Fields(own)[0]}
	}
	if cross := os.Getenv("DIGLOT_ARCH"); cross != "" && cross != runtime.GOARCH {
		candidates = []string{crossCompilers[cross] + "g++"}
	}
	for _, name := range candidates {
		if _, err := exec.LookPath(name); err == nil {
			return nil
		}
	}
	return fmt.Errorf("llama.cpp needs a C++ compiler, and there is no %s "+
		"(Debian: apt-get install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install)",
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
