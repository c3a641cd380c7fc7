package store

import (
	"errors"
	"strings"
	"testing"
)

func openTest(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func name(t *testing.T, text string) Name {
	t.Helper()
	n, err := ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// putModel stores a model with one layer.
func putModel(t *testing.T, s *Store, text, content string) *Model {
	t.Helper()
	c, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m, err := createIn(t.Context(), c, name(t, text), content)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestModelFromCreateToRemove(t *testing.T) {
	s := openTest(t, t.TempDir())
	m := putModel(t, s, "Tiny:v1", "weights")
	models, err := s.List(t.Context())
	if err != nil || len(models) != 1 || models[0].Digest != m.Digest || models[0].Name != m.Name {
		t.Fatalf("List gives %v and %v, not the one model", models, err)
	}
	config, err := s.Config(models[0])
	if err != nil || config.ModelFormat != "gguf" {
		t.Errorf("the config is %+v and %v", config, err)
	}
	text, err := s.ReadBlob(m.Manifest.Layers[0], 100)
	if err != nil || string(text) != "weights" {
		t.Errorf("the layer is %q and %v", text, err)
	}
	alias := name(t, "gpt-4o")
	if err := s.Copy(t.Context(), m.Name, alias); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), m.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Model(m.Name); !errors.Is(err, ErrNotFound) {
		t.Errorf("the model is still there: %v", err)
	}
	kept, err := s.Model(alias)
	if err != nil || kept.Digest != m.Digest || s.Whole(kept) != nil {
		t.Errorf("the copy is %+v and %v", kept, err)
	}
	if err := s.Remove(t.Context(), alias); err != nil {
		t.Fatal(err)
	}
	if err := s.has(m.Manifest.Layers[0]); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("the blob was not collected: %v", err)
	}
}
