package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine/gguf"
)

// ollamaStore is a store that Ollama wrote; see testdata/README.md.
const ollamaStore = "testdata/ollama"

func openOllama(t *testing.T) *Store {
	t.Helper()
	s, err := Open(Options{Dir: ollamaStore, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOllamaStoreIsListed(t *testing.T) {
	models, err := openOllama(t).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, m := range models {
		ids[m.Name.String()] = m.Digest.Encoded()[:12]
	}
	want := map[string]string{
		"hf.co/org/Tiny-GGUF:Q4_K_M": "b3bc4f299325",
		"gpt-4o":                     "b3bc4f299325",
		"tiny:v1":                    "b3bc4f299325",
		"someone/tiny-lora":          "e2ac4188b54f",
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("not what Ollama lists (-want +got):\n%s", diff)
	}
}

func TestOllamaStoreIsRead(t *testing.T) {
	s := openOllama(t)
	tiny := "{{ if .System }}System: {{ .System }}\n{{ end }}{{ range .Messages }}{{ .Role }}: {{ .Content }}\n{{ end }}assistant:"
	for _, test := range []struct {
		name   string
		layers map[string][]string // text by media type; of GGUF files what they begin with
	}{
		{"tiny:v1", map[string][]string{
			MediaTypeModel: {gguf.Magic}, MediaTypeTemplate: {tiny},
			MediaTypeSystem:   {"You are a tiny model.\nYou have two lines."},
			MediaTypeParams:   {`{"num_ctx":256,"repeat_penalty":1.3,"seed":42,"stop":["user:","</end>"],"temperature":0.25,"top_k":7,"top_p":0.5}`},
			MediaTypeMessages: {`[{"role":"user","content":"Who are you?"},{"role":"assistant","content":"A fixture, and a small one."}]`},
			MediaTypeLicense:  {"The first license: do what you like.", "The second license: and be kind."},
		}},
		{"someone/tiny-lora", map[string][]string{
			MediaTypeModel: {gguf.Magic}, MediaTypeAdapter: {gguf.Magic}, MediaTypeTemplate: {tiny},
			MediaTypeSystem:   {"You are a tiny model.\nYou have two lines."},
			MediaTypeParams:   {`{"num_ctx":256,"repeat_penalty":1.3,"seed":42,"stop":["user:","</end>"],"temperature":0,"top_k":7,"top_p":0.5}`},
			MediaTypeMessages: {`[{"role":"user","content":"Who are you?"},{"role":"assistant","content":"A fixture, and a small one."}]`},
			MediaTypeLicense:  {"The first license: do what you like.", "The second license: and be kind."},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := s.Model(name(t, test.name))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Whole(m); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(test.layers, layersOf(t, s, m)); diff != "" {
				t.Errorf("not the layers that were created (-want +got):\n%s", diff)
			}
			config, err := s.Config(m)
			if err != nil || config.ModelFormat != "gguf" || config.ModelFamily != "llama" || len(config.RootFS.DiffIDs) != len(m.Manifest.Layers) {
				t.Errorf("the config is %+v and %v", config, err)
			}
		})
	}
}

func layersOf(t *testing.T, s *Store, m *Model) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, l := range m.Manifest.Layers {
		text, err := s.ReadBlob(l, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		content := strings.TrimSuffix(string(text), "\n")
		switch {
		case strings.HasPrefix(content, gguf.Magic):
			content = gguf.Magic
		case json.Valid(text):
			content = canonical(t, text)
		}
		found[l.MediaType] = append(found[l.MediaType], content)
	}
	return found
}

// canonical keeps the order of arrays and of nothing else.
func canonical(t *testing.T, text []byte) string {
	t.Helper()
	var messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var v any = &messages
	if text[0] == '{' {
		v = &map[string]any{}
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// TestReadOnlyStoreStaysAsItIs runs every method that writes on a store that was
// opened read-only.
func TestReadOnlyStoreStaysAsItIs(t *testing.T) {
	s := openOllama(t)
	before := filesOf(t, ollamaStore)
	from := name(t, "tiny:v1")
	for verb, run := range map[string]func(context.Context) error{
		"begin":   func(ctx context.Context) error { _, err := s.Begin(ctx); return err },
		"copy":    func(ctx context.Context) error { return s.Copy(ctx, from, name(t, "other")) },
		"remove":  func(ctx context.Context) error { return s.Remove(ctx, from) },
		"collect": func(ctx context.Context) error { _, err := s.Collect(ctx); return err },
	} {
		err := run(t.Context())
		if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "opened read-only") {
			t.Errorf("%s: the error is %v", verb, err)
		}
	}
	if diff := cmp.Diff(before, filesOf(t, ollamaStore)); diff != "" {
		t.Errorf("the store was changed (-before +after):\n%s", diff)
	}
}

func filesOf(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		files = append(files, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (s *Store) has(l Layer) error {
	_, err := s.Find(l)
	return err
}
