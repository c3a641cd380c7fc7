package modelstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestListHasTheLatestFirst(t *testing.T) {
	s := openTest(t, t.TempDir())
	for i, text := range []string{"b", "c", "a", "d"} {
		putModel(t, s, text, "weights")
		age(t, s.manifestPath(name(t, text)), time.Duration(min(i, 2))*time.Hour)
	}
	same := time.Now().Add(-time.Hour)
	for _, text := range []string{"a", "d"} {
		if err := os.Chtimes(s.manifestPath(name(t, text)), same, same); err != nil {
			t.Fatal(err)
		}
	}
	age(t, s.manifestPath(name(t, "c")), 2*time.Hour)
	models, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names string
	for _, m := range models {
		names += m.Name.String()
	}
	if names != "badc" {
		t.Errorf("the order is %s, not badc", names)
	}
}

func TestListEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if models, err := openOllama(t).List(ctx); err == nil {
		t.Errorf("it gives %v", models)
	}
}

func TestListFollowsNoCircle(t *testing.T) {
	s := openTest(t, t.TempDir())
	putModel(t, s, "x", "weights")
	if err := os.Symlink("..", filepath.Join(s.manifests(), DefaultHost, "circle")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Model(name(t, "x")); err != nil {
		t.Error(err)
	}
	models, err := s.List(t.Context())
	if err != nil || len(models) == 0 {
		t.Errorf("List gives %d models, %v", len(models), err)
	}
}

// BenchmarkList lists 1,000 models with seven layers each.
func BenchmarkList(b *testing.B) {
	s, err := Open(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(ollamaStore, "manifests", DefaultHost, DefaultNamespace, "tiny", "v1"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		path := s.manifestPath(Name{DefaultHost, DefaultNamespace, fmt.Sprintf("model%d", i), DefaultTag})
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		models, err := s.List(b.Context())
		if err != nil || len(models) != 1000 {
			b.Fatalf("%d models, %v", len(models), err)
		}
	}
}
