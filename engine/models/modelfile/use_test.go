package modelfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUnused: what a Modelfile sets, and a model of its kind makes no use of, is named.
func TestUnused(t *testing.T) {
	const all = "PARAMETER num_ctx 64\nPARAMETER num_thread 2\nPARAMETER num_predict 5\nPARAMETER stop a\nPARAMETER temperature 0\nPARAMETER seed 1\n"
	warned := func(why string, names ...string) []string {
		for i, name := range names {
			names[i] = fmt.Sprintf("%s has no effect: %s.", name, why)
		}
		return names
	}
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"a model that generates text", "FROM m.gguf\nPARAMETER draft small\nSYSTEM s\n" + all, nil},
		{"an embedding model", "FROM embeds.gguf\nTEMPLATE {{ .Prompt }}\nSYSTEM s\nMESSAGE user hi\n" + all, warned("the model only makes embeddings",
			"PARAMETER temperature", "PARAMETER seed", "PARAMETER num_predict", "PARAMETER stop", "TEMPLATE", "SYSTEM", "MESSAGE")},
		{"an image model", "FROM ./whole\nPARAMETER steps 3\n" + all, warned("an image model generates no text",
			"PARAMETER temperature", "PARAMETER num_ctx", "PARAMETER num_predict", "PARAMETER stop")},
		{"a remote model", "FROM https://h/v1\nPARAMETER model m\nPARAMETER draft small\n" + all, warned("the remote server decides it",
			"PARAMETER num_ctx", "PARAMETER num_thread", "PARAMETER draft")},
	} {
		b := imageBench(t)
		b.file("embeds.gguf", embedder().Bytes())
		b.create("m", tt.text)
		if diff := cmp.Diff(strings.Join(tt.want, "\n"), strings.Join(b.warnings, "\n")); diff != "" {
			t.Errorf("%s: warnings -want +got\n%s", tt.name, diff)
		}
	}
}
