package main

import (
	"strings"
	"testing"
)

// TestTemplateFile: a template that cannot be used ends the runner before it
// loads the model, which does not exist here.
func TestTemplateFile(t *testing.T) {
	for _, tt := range []struct{ name, path, want string }{
		{"none", t.TempDir() + "/none", "no such file"},
		{"empty", write(t, "empty", " \n"), "is empty"},
		{"long", write(t, "long", strings.Repeat("x", 1<<20+1)), "more than 1048576 bytes"},
	} {
		_, _, stderr := execute(t.Context(), "runner", "--model", "m=none.gguf", "--template", tt.path)
		if !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, tt.path) {
			t.Errorf("%s: %q, want %q and the path in it", tt.name, stderr, tt.want)
		}
	}
}
