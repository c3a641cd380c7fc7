package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// change is a change to the sources, which are pinned, so that its text is there.
type change struct {
	file, old, new string
}

// changes are what native/diglot.cpp cannot do from outside.
var changes = []change{
	// The number of threads of a loaded model is fixed otherwise, and text models on
	// the same cores would wait for it at every barrier.
	{"ggml/src/ggml-cpu/ggml-cpu.cpp",
		"void ggml_backend_cpu_set_n_threads(ggml_backend_t backend_cpu, int n_threads) {\n",
		"extern \"C\" int diglot_limited(int threads);\n\n" +
			"void ggml_backend_cpu_set_n_threads(ggml_backend_t backend_cpu, int n_threads) {\n" +
			"    n_threads = diglot_limited(n_threads);\n"},
	// Each picture would read the LoRA files again, only to add nothing.
	{"src/stable-diffusion.cpp",
		"        for (auto& kv : lora_state_diff) {\n            int64_t t0 = ggml_time_ms();\n",
		"        for (auto& kv : lora_state_diff) {\n            if (kv.second == 0.f) {\n                continue;\n            }\n" +
			"            int64_t t0 = ggml_time_ms();\n"},
}

// apply makes the change, unless an earlier build has.
func (c change) apply(source string) error {
	path := filepath.Join(source, filepath.FromSlash(c.file))
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(raw)
	switch {
	case strings.Contains(text, c.new):
		return nil // or it would be compiled again
	case strings.Count(text, c.old) != 1:
		return fmt.Errorf("%s is not the file that is to be changed", c.file)
	}
	return os.WriteFile(path, []byte(strings.Replace(text, c.old, c.new, 1)), 0o644)
}
