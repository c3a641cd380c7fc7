package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// TestListFollowsNoCircle has several links to the directories that they are in,
// which can be followed in more ways than there is time for, and one to a
// directory that is elsewhere.
func TestListFollowsNoCircle(t *testing.T) {
	s, elsewhere := openTest(t, t.TempDir()), openTest(t, t.TempDir())
	putModel(t, s, "x", "weights")
	putModel(t, elsewhere, "far/away", "weights")
	host := filepath.Join(s.manifests(), DefaultHost)
	for name, target := range map[string]string{
		"up": "..", "same": ".", "again": "library/..", "far": filepath.Join(elsewhere.manifests(), DefaultHost, "far"), "nowhere": "gone",
	} {
		if err := os.Symlink(target, filepath.Join(host, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Model(name(t, "x")); err != nil {
		t.Error(err)
	}
	models, err := s.List(t.Context())
	var names []string
	for _, m := range models {
		names = append(names, m.Name.String())
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"far/away", "x"}, names); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// BenchmarkList lists 1,000 models with seven layers each: for the first time,
// as a command does, and again, as a server does.
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
		if err := os.Chtimes(path, settledTime(), settledTime()); err != nil {
			b.Fatal(err)
		}
	}
	for _, again := range []bool{false, true} {
		b.Run(fmt.Sprintf("again=%t", again), func(b *testing.B) {
			for b.Loop() {
				if !again {
					s.memo.keep(func(string) bool { return false })
				}
				models, err := s.List(b.Context())
				if err != nil || len(models) != 1000 {
					b.Fatalf("%d models, %v", len(models), err)
				}
			}
		})
	}
}

// settledTime is long enough ago for a manifest to be remembered.
func settledTime() time.Time { return time.Now().Add(-2 * settled) }
