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

// TestUndrafted: a draft model is refused for a model that cannot use its guesses.
func TestUndrafted(t *testing.T) {
	for _, tt := range []struct{ name, from, want string }{
		{"an embedding model", "embeds.gguf", "the model only makes embeddings"},
		{"an image model", "./whole", "an image model generates no text"},
		{"a recurrent model", "recurrent.gguf", "a recurrent model cannot take back a wrong guess"},
	} {
		b := imageBench(t)
		b.file("embeds.gguf", embedder().Bytes())
		b.file("recurrent.gguf", recurrent(t).Bytes())
		want := "line 2: PARAMETER draft cannot be used: " + tt.want
		if _, err := b.try("m", "FROM "+tt.from+"\nPARAMETER draft small"); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %q", tt.name, err, want)
		}
		if all, err := b.store.List(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("%s: models are left: %v, %v", tt.name, all, err)
		}
	}
}
