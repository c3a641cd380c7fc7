package toolchain

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestPreprocessorFlags(t *testing.T) {
	got := preprocessorFlags("/module")
	for _, want := range []string{
		"-I/module/llama/llama.cpp/include",
		"-I/module/ml/backend/ggml/ggml/include",
		"-I/module/ml/backend/ggml/ggml/src",
		"-I/module/ml/backend/ggml/ggml/src/ggml-cpu",
		"-DGGML_USE_CPU_REPACK",
		"-U__AMX_INT8__",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("flags %q lack %q", strings.Join(got, " "), want)
		}
	}
}

func TestCPU(t *testing.T) {
	for _, tt := range []struct{ arch, name, want string }{
		{"amd64", "native", "-march=native"},
		{"amd64", "x86-64-v3", "-march=x86-64-v3"},
		{"arm64", "native", "-mcpu=native"},
		{"arm64", "neoverse-n1", "-mcpu=neoverse-n1"},
	} {
		if got := CPU(tt.arch, tt.name); got != tt.want {
			t.Errorf("CPU(%q, %q) = %q, want %q", tt.arch, tt.name, got, tt.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, tt := range []struct {
		target Target
		has    []string
		lacks  string
	}{
		{Target{Arch: runtime.GOARCH, Flags: "-march=x"}, []string{"CGO_ENABLED=1", "CGO_CFLAGS=-O3 -march=x", "CGO_CXXFLAGS=-O3 -march=x"}, "-ffile-prefix-map"},
		{Target{Flags: "-march=x", Portable: true}, []string{"CGO_CFLAGS=-O3 -march=x"}, "aarch64"},
	} {
		env, err := tt.target.Environment(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.has {
			if !slices.Contains(env, want) {
				t.Errorf("%+v: the environment lacks %s", tt.target, want)
			}
		}
		i := slices.IndexFunc(env, func(s string) bool { return strings.HasPrefix(s, "CGO_CPPFLAGS=") })
		if i < 0 || strings.Contains(env[i], tt.lacks) || strings.Contains(env[i], "-ffile-prefix-map") != tt.target.Portable {
			t.Errorf("%+v: %q", tt.target, env[max(i, 0)])
		}
	}
	if _, err := (Target{Arch: "riscv64"}).Environment(t.Context()); err == nil || !strings.Contains(err.Error(), "riscv64") {
		t.Errorf("an architecture without a compiler: error %v", err)
	}
}

// TestFindCompilerForAnotherProcessor: a compiler for this one is none.
func TestFindCompilerForAnotherProcessor(t *testing.T) {
	if err := (Target{Arch: "riscv64"}).FindCompiler(); err == nil || !strings.Contains(err.Error(), "riscv64") {
		t.Errorf("got %v, want an error that names the architecture", err)
	}
}

func TestFindCompilerNamesWhatIsMissing(t *testing.T) {
	t.Setenv("CXX", "no-such-compiler -O3")
	if err := (Target{}).FindCompiler(); err == nil || !strings.Contains(err.Error(), "no-such-compiler") {
		t.Errorf("got %v, want an error that names the compiler", err)
	}
}
