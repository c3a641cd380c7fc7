package store

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
)

func TestCollect(t *testing.T) {
	const day = 24 * time.Hour
	orphan := "blobs/" + blobName(digest.FromString("orphan"))
	partial := ".diglot/partial/" + blobName(digest.FromString("partial"))
	valid := fmt.Sprintf(`{"config":{"digest":%q,"size":6}}`, digest.FromString("orphan"))
	for _, test := range []struct {
		name  string
		files map[string]string
		age   time.Duration // of them
		kept  bool
	}{
		{"an old blob", map[string]string{orphan: "orphan"}, 2 * day, false},
		{"a young blob", map[string]string{orphan: "orphan"}, 23 * time.Hour, true},
		{"a young blob of a change", map[string]string{orphan: "orphan", ".diglot/loose/" + filepath.Base(orphan): ""}, 0, false},
		{"a part of Ollama's download", map[string]string{orphan + "-partial": "or", orphan + "-partial-0": "{}"}, 23 * time.Hour, true},
		{"an old part of Ollama's download", map[string]string{orphan + "-partial": "or", orphan + "-partial-11": "{}"}, 2 * day, false},
		{"a download", map[string]string{partial + ".data": "par", partial + ".journal": "x", partial + ".lock": ""}, 6 * day, true},
		{"an old download", map[string]string{partial + ".data": "par", partial + ".journal": "x", partial + ".lock": ""}, 8 * day, false},
		{"half a blob", map[string]string{".diglot/blob-1": "x"}, 0, false},
		{"half a manifest", map[string]string{".diglot/manifest-1": "x"}, 0, false},
		{"a file of the user", map[string]string{"blobs/README": "x"}, 99 * day, true},
		{"a blob of a broken manifest", map[string]string{orphan: "orphan", "manifests/registry.ollama.ai/library/broken/latest": "{"}, 2 * day, true},
		{"what is left of a download beside a broken manifest", map[string]string{partial + ".lock": "", ".diglot/manifest-1": "x", "manifests/registry.ollama.ai/library/broken/latest": "{"}, 0, false},
		{"a blob of a name with a device", map[string]string{orphan: "orphan", "manifests/registry.ollama.ai/library/nul/latest": valid}, 2 * day, true},
		{"a blob beside a file of the user", map[string]string{orphan: "orphan", "manifests/registry.ollama.ai/Thumbs.db": "x"}, 2 * day, false},
		{"a blob beside a hidden file", map[string]string{orphan: "orphan", "manifests/registry.ollama.ai/library/x/.DS_Store": "x"}, 2 * day, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			s := openTest(t, dir)
			putModel(t, s, "good", "weights")
			for path, text := range test.files {
				write(t, filepath.Join(dir, path), text)
				age(t, filepath.Join(dir, path), test.age)
			}
			freed, err := s.Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var size int64
			for path, text := range test.files {
				if strings.HasPrefix(path, "manifests") {
					continue
				}
				if exists(filepath.Join(dir, path)) != test.kept {
					t.Errorf("%s is kept: %t", path, !test.kept)
				}
				size += int64(len(text))
			}
			if want := map[bool]int64{false: size}[test.kept]; freed != want {
				t.Errorf("%d bytes are said to be freed, not %d", freed, want)
			}
			if err := checkStore(s, map[string]string{"good": "weights"}, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCollectSaysWhyItDoesNothing(t *testing.T) {
	var log bytes.Buffer
	s, err := Open(Options{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.manifestPath(name(t, "some/broken:one")), "{")
	if freed, err := s.Collect(t.Context()); freed != 0 || err != nil {
		t.Errorf("it freed %d, %v", freed, err)
	}
	if want := filepath.Join("registry.ollama.ai", "some", "broken", "one"); !strings.Contains(log.String(), want) {
		t.Errorf("the log does not name %s: %s", want, log.String())
	}
}

// TestChangeKeepsItsBlobs collects while a change, of this process, is under
// way.
func TestChangeKeepsItsBlobs(t *testing.T) {
	s := openTest(t, t.TempDir())
	c, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.Write(t.Context(), MediaTypeModel, strings.NewReader("weights"))
	if err != nil {
		t.Fatal(err)
	}
	if freed, err := s.Collect(t.Context()); freed != 0 || err != nil || s.has(l) != nil {
		t.Errorf("Collect freed %d, %v", freed, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.has(l); err == nil {
		t.Error("the blob is kept after the change has ended, though nothing names it")
	}
	if err := c.Close(); err != nil {
		t.Errorf("to close it twice: %v", err)
	}
}

// TestPulledBlobIsKept has a pull that ends between two layers: the first one
// need not be downloaded again.
func TestPulledBlobIsKept(t *testing.T) {
	s := openTest(t, t.TempDir())
	c, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := Layer{MediaType: MediaTypeModel, Digest: digest.FromString("weights"), Size: 7}
	if err := fetchLayer(t.Context(), c, l, "weights", func(Range) {}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	other := putModel(t, s, "other", "x")
	if err := s.Remove(t.Context(), other.Name); err != nil {
		t.Fatal(err)
	}
	if err := s.has(l); err != nil {
		t.Error(err)
	}
}
