package store

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// manifestOf is a manifest of one layer; all of them are of one size.
func manifestOf(t *testing.T, content string) string {
	t.Helper()
	text, err := Manifest{Config: layerOf("{}"), Layers: []Layer{layerOf(content)}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMemoSeesEveryChange changes the file of a manifest that is remembered,
// as this program does, as Ollama does, and as tools do that keep times.
func TestMemoSeesEveryChange(t *testing.T) {
	before, after := manifestOf(t, "old"), manifestOf(t, "new")
	if len(before) != len(after) {
		t.Fatal("the manifests differ in size")
	}
	then := settledTime()
	keepTime := func(path string) error { return os.Chtimes(path, then, then) }
	for _, tt := range []struct {
		name   string
		change func(path string) error
		want   string // the content of its layer; empty: it is gone
	}{
		{"nothing", func(string) error { return nil }, "old"},
		{"written in place", func(path string) error { return os.WriteFile(path, []byte(after), 0o644) }, "new"},
		{"another file in its place, with its time", func(path string) error {
			temp := path + ".temp"
			return errors.Join(os.WriteFile(temp, []byte(after), 0o644), keepTime(temp), os.Rename(temp, path))
		}, "new"},
		{"longer, with its time", func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(after+"\n"), 0o644), keepTime(path))
		}, "new"},
		{"removed", os.Remove, ""},
		{"a directory in its place", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := openTest(t, t.TempDir())
			n := name(t, "m")
			path := s.manifestPath(n)
			write(t, path, before)
			if err := keepTime(path); err != nil {
				t.Fatal(err)
			}
			if _, err := s.List(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.memo.find(path) == nil {
				t.Fatal("it is not remembered")
			}
			if err := tt.change(path); err != nil {
				t.Fatal(err)
			}
			m, err := s.Model(n)
			if tt.want == "" {
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("Model gives %v, %v", m, err)
				}
			} else if err != nil || m.Manifest.Layers[0].Digest != layerOf(tt.want).Digest {
				t.Errorf("Model gives %v, %v", m, err)
			}
			models, err := s.List(t.Context())
			if err != nil || len(models) != min(len(tt.want), 1) {
				t.Fatalf("List gives %v, %v", models, err)
			}
			if len(models) == 1 && models[0].Manifest.Layers[0].Digest != layerOf(tt.want).Digest {
				t.Errorf("List gives %v", models[0])
			}
			if len(models) == 0 && len(s.memo.models) > 0 {
				t.Error("it is remembered all the same")
			}
		})
	}
}

// TestMemoTakesNoYoungFile has one change within a tick of the clock.
func TestMemoTakesNoYoungFile(t *testing.T) {
	s := openTest(t, t.TempDir())
	n := name(t, "m")
	now := time.Now()
	for _, content := range []string{"old", "new"} {
		path := s.manifestPath(n)
		write(t, path, manifestOf(t, content))
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
		m, err := s.Model(n)
		if err != nil || m.Manifest.Layers[0].Digest != layerOf(content).Digest {
			t.Errorf("%s: %v, %v", content, m, err)
		}
	}
}

// TestMemoIsNotChangedByCallers has one add to what it got.
func TestMemoIsNotChangedByCallers(t *testing.T) {
	s := openTest(t, t.TempDir())
	n := name(t, "m")
	write(t, s.manifestPath(n), manifestOf(t, "old"))
	age(t, s.manifestPath(n), time.Hour)
	for range 3 {
		m, err := s.Model(n)
		if err != nil || m.Name != n || len(m.Manifest.Layers) != 1 {
			t.Fatalf("%v, %v", m, err)
		}
		m.Name.Tag = "other"
		m.Manifest.Layers = append(m.Manifest.Layers, layerOf("more"))
	}
}

// TestListSaysOnceWhatItSkips, or the requests of clients would fill the log.
func TestListSaysOnceWhatItSkips(t *testing.T) {
	var log bytes.Buffer
	s, err := Open(Options{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	path := s.manifestPath(name(t, "broken"))
	for _, tt := range []struct {
		text string
		want int // lines of the log, from the beginning
	}{{"{", 1}, {"{", 1}, {"[]", 2}, {manifestOf(t, "good"), 2}, {"{", 3}, {"", 3}} {
		write(t, path, tt.text)
		for range 2 {
			if _, err := s.List(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Count(log.String(), filepath.Base(path)); got != tt.want {
			t.Errorf("with %q the log has %d lines, want %d:\n%s", tt.text, got, tt.want, log.String())
		}
	}
}
