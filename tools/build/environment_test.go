package main

import (
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

func TestOptimise(t *testing.T) {
	for _, tt := range []struct{ arch, cpu, want string }{
		{"amd64", "", "-O3 -march=native"},
		{"amd64", "x86-64-v3", "-O3 -march=x86-64-v3"},
		{"arm64", "", "-O3 -mcpu=native"},
		{"arm64", "neoverse-n1", "-O3 -mcpu=neoverse-n1"},
	} {
		if got := optimise(tt.arch, tt.cpu); got != tt.want {
			t.Errorf("optimise(%q, %q) = %q, want %q", tt.arch, tt.cpu, got, tt.want)
		}
	}
}

func TestFindCompilerNamesWhatIsMissing(t *testing.T) {
	t.Setenv("CXX", "no-such-compiler -O3")
	if err := findCompiler(); err == nil || !strings.Contains(err.Error(), "no-such-compiler") {
		t.Errorf("got %v, want an error that names the compiler", err)
	}
}
