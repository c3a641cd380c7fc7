package library

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
)

// fileOf writes a file of 1,000 bytes that begins with the content.
func fileOf(t *testing.T, name, content string) File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, []byte(content+strings.Repeat("\x00", 1000-len(content))), 0o600); err != nil {
		t.Fatal(err)
	}
	return File{Name: name, Path: path}
}

// TestFiles has two names of one file, one of which a model of the store has
// too, and a name that no store could have.
func TestFiles(t *testing.T) {
	file := fileOf(t, "b", "file")
	also, odd := File{Name: "my model", Path: file.Path}, File{Name: "модель", Path: file.Path, Projector: file.Path}
	inBubble(t, Config{Files: []File{file, also, odd}, Budget: 10_000}, func(t *testing.T, h *house) {
		models, err := h.Models(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range models {
			names = append(names, fmt.Sprint(m.Name, " ", m.TextOnly, m.Changed.IsZero()))
		}
		expect(t, "models", strings.Join(names, ", "), "a true false, b true false, c true false, my model true false, модель false false")
		for name, want := range map[string]string{"a": "a...", "b": "file", "b:latest": "file", "my model": "file", "модель": "file"} {
			expect(t, name, h.mustAsk(t, name), want)
		}
		for _, name := range []string{"library/b", "library/b", "b", "registry.ollama.ai/library/b", "library/b:latest"} {
			expect(t, name, h.mustAsk(t, name), "file")
		}
		expect(t, "instances: a, one of the two names, and one with a projector", h.running(), 3)
		expect(t, "launches", len(h.launches), 3)
		for _, l := range h.Loaded() {
			expect(t, l.Name+" has a digest", l.Digest != "", l.Name == "a")
		}
	})
}

// TestFilesComeAndGo has room for two models: a file leaves for one of the
// store, that for the file, and all when nobody uses them.
func TestFilesComeAndGo(t *testing.T) {
	inBubble(t, Config{Files: []File{fileOf(t, "f", "file")}, Budget: 4500}, func(t *testing.T, h *house) {
		for _, name := range []string{"f", "a", "b", "f"} {
			h.mustAsk(t, name)
			time.Sleep(time.Second) // so that one was used before the other
		}
		expect(t, "launches", h.started(), "f a b f")
		time.Sleep(DefaultKeepAlive)
		synctest.Wait()
		expect(t, "loaded", len(h.Loaded()), 0)
		h.mustAsk(t, "f")
		if err := h.Stop(t.Context(), "f:latest"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		expect(t, "loaded", len(h.Loaded()), 0)
	})
}

// TestFilesAlone has no store.
func TestFilesAlone(t *testing.T) {
	h := newHouse(t, Config{Files: []File{fileOf(t, "f", "file"), {Name: "gone", Path: "/none"}}})
	h.Engine.config.Store = nil
	defer h.Close()
	expect(t, "f", h.mustAsk(t, "f"), "file")
	for name, want := range map[string]struct {
		code    engine.Code
		message string
	}{
		"n":    {engine.CodeModelNotFound, `The model "n" does not exist.`},
		"../x": {engine.CodeModelNotFound, `The model "../x" does not exist.`},
		"gone": {engine.CodeInternal, `The file of the model "gone" cannot be loaded any more.`},
	} {
		_, err := h.ask(t.Context(), name)
		if got := engine.AsError(err); got.Code != want.code || got.Message != want.message {
			t.Errorf("%s: %v, want %q", name, err, want.message)
		}
	}
	models, err := h.Models(t.Context())
	if err != nil || len(models) != 2 {
		t.Errorf("%d models, error %v", len(models), err)
	}
}
