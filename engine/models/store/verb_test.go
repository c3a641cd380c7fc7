package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
)

// The verbs below are what programs do with a store, for the tests that kill
// them, or forbid them a step, at every point.

// createIn does what a create does: a layer, a config, and a manifest.
func createIn(ctx context.Context, c *Change, n Name, content string) (*Model, error) {
	layer, err := c.Write(ctx, MediaTypeModel, strings.NewReader(content))
	if err != nil {
		return nil, err
	}
	return finishIn(ctx, c, n, layer)
}

// finishIn writes a config and a manifest with the layers.
func finishIn(ctx context.Context, c *Change, n Name, layers ...Layer) (*Model, error) {
	config, err := c.Write(ctx, MediaTypeConfig, strings.NewReader(`{"model_format":"gguf"}`))
	if err != nil {
		return nil, err
	}
	text, err := Manifest{Config: config, Layers: layers}.Encode()
	if err != nil {
		return nil, err
	}
	return c.Put(ctx, n, text)
}

// createModel is a create in a change of its own.
func createModel(ctx context.Context, s *Store, n Name, content string) error {
	c, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = createIn(ctx, c, n, content)
	return err
}

// importModel creates a model from a file.
func importModel(ctx context.Context, s *Store, n Name, path string) error {
	c, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	layer, err := c.Import(ctx, MediaTypeModel, path, nil)
	if err != nil {
		return err
	}
	_, err = finishIn(ctx, c, n, layer)
	return err
}

// pieces is in how many parts pullModel fetches a layer.
const pieces = 4

// pullModel downloads a model with one layer, the last piece first. fetched
// is called with each range that Done has taken.
func pullModel(ctx context.Context, s *Store, n Name, content string, fetched func(Range)) error {
	c, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	layer := Layer{MediaType: MediaTypeModel, Digest: digest.FromString(content), Size: int64(len(content))}
	if err := fetchLayer(ctx, c, layer, content, fetched); err != nil {
		return err
	}
	_, err = finishIn(ctx, c, n, layer)
	return err
}

func fetchLayer(ctx context.Context, c *Change, layer Layer, content string, fetched func(Range)) (err error) {
	p, err := c.Partial(ctx, layer)
	if p == nil || err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for _, gap := range slices.Backward(p.Missing()) {
		for _, r := range slices.Backward(split(gap, (layer.Size+pieces-1)/pieces)) {
			if _, err := p.WriteAt([]byte(content[r.Offset:r.end()]), r.Offset); err != nil {
				return err
			}
			if err := p.Done(r); err != nil {
				return err
			}
			fetched(r)
		}
	}
	return p.Commit()
}

func split(r Range, size int64) []Range {
	var parts []Range
	for at := r.Offset; at < r.end(); at += size {
		parts = append(parts, Range{at, min(size, r.end()-at)})
	}
	return parts
}

// verb is one operation on the store that prepareStore makes.
type verb struct {
	name string
	run  func(ctx context.Context, s *Store) error
	// After the verb, these names have the content; empty: there is no model.
	want map[string]string
}

// contents of the models that prepareStore makes.
var before = map[string]string{
	"kept":           "weights of the model that stays",
	"hf.co/a/b:Q4":   "weights of a model from elsewhere",
	"old":            "weights that are replaced or removed",
	"shared/one:tag": "weights that two models have",
	"shared/two:tag": "weights that two models have",
}

// prepareStore makes a store with models, and with what old crashes left.
func prepareStore(t *testing.T, dir string) {
	t.Helper()
	s := openTest(t, dir)
	for text, content := range before {
		putModel(t, s, text, content)
	}
	old := time.Now().Add(-30 * 24 * time.Hour)
	for path, content := range map[string]string{
		"blobs/" + blobName(digest.FromString("orphan")):               "orphan",
		"blobs/" + blobName(digest.FromString("other")) + "-partial":   "oth",
		"blobs/" + blobName(digest.FromString("other")) + "-partial-0": "{}",
		".diglot/blob-123":     "half a blob",
		".diglot/manifest-123": `{"schemaVersion":`,
		".diglot/partial/" + blobName(digest.FromString("late")) + ".data": "la\x00\x00",
	} {
		path = filepath.Join(dir, path)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "import.gguf"), []byte("weights of a file"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// verbs is every operation that changes a store.
func verbs() []verb {
	nothing := func(Range) {}
	n := func(text string) Name {
		n, err := ParseName(text)
		if err != nil {
			panic(err) // a mistake in the test: it is one of its constants
		}
		return n
	}
	return []verb{
		{"create", func(ctx context.Context, s *Store) error {
			return createModel(ctx, s, n("new/model:v1"), "weights that are new")
		}, map[string]string{"new/model:v1": "weights that are new"}},
		{"replace", func(ctx context.Context, s *Store) error {
			return createModel(ctx, s, n("old"), "weights that are new")
		}, map[string]string{"old": "weights that are new"}},
		{"import", func(ctx context.Context, s *Store) error {
			return importModel(ctx, s, n("imported"), filepath.Join(s.Dir(), "import.gguf"))
		}, map[string]string{"imported": "weights of a file"}},
		{"pull", func(ctx context.Context, s *Store) error {
			return pullModel(ctx, s, n("reg.example/x/y/z:t"), "weights that come in pieces", nothing)
		}, map[string]string{"reg.example/x/y/z:t": "weights that come in pieces"}},
		{"copy", func(ctx context.Context, s *Store) error {
			return s.Copy(ctx, n("kept"), n("gpt-4o"))
		}, map[string]string{"gpt-4o": before["kept"]}},
		{"copy over", func(ctx context.Context, s *Store) error {
			return s.Copy(ctx, n("kept"), n("old"))
		}, map[string]string{"old": before["kept"]}},
		{"remove", func(ctx context.Context, s *Store) error {
			return ifFound(s.Remove(ctx, n("old")))
		}, map[string]string{"old": ""}},
		{"remove one of two", func(ctx context.Context, s *Store) error {
			return ifFound(s.Remove(ctx, n("shared/one:tag")))
		}, map[string]string{"shared/one:tag": ""}},
		{"collect", func(ctx context.Context, s *Store) error {
			_, err := s.Collect(ctx)
			return err
		}, nil},
	}
}

// ifFound is what a user sees who removes a model again after a crash.
func ifFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// checkStore reads every model as a whole and compares all names with want,
// or, where a name is in either, with that as well.
func checkStore(s *Store, want, either map[string]string) error {
	models, err := s.List(context.Background())
	if err != nil {
		return err
	}
	found := map[string]string{}
	for _, m := range models {
		content, err := contentOf(s, m)
		if err != nil {
			return err
		}
		found[m.Name.String()] = content
	}
	for text, content := range want {
		other, both := either[text]
		if found[text] != content && (!both || found[text] != other) {
			return fmt.Errorf("model %s has %q, not %q", text, found[text], content)
		}
	}
	for text, content := range found {
		if want[text] == "" && either[text] != content {
			return fmt.Errorf("there is a model %s with %q", text, content)
		}
	}
	return nil
}

// contentOf is the first layer; all blobs are compared with their digests.
func contentOf(s *Store, m *Model) (string, error) {
	var first []byte
	for _, l := range m.Manifest.all() {
		text, err := s.ReadBlob(l, 1<<30)
		if err != nil {
			return "", fmt.Errorf("model %s: %w", m.Name, err)
		}
		if first == nil {
			first = text
		}
	}
	return string(first), nil
}

// checkNothingIsLeft compares the blobs with those that the models name, and
// finds what is unfinished. The store must have been collected.
func checkNothingIsLeft(s *Store) error {
	models, err := s.List(context.Background())
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, m := range models {
		for _, l := range m.Manifest.all() {
			named[blobName(l.Digest)] = true
		}
	}
	inUse := map[string]bool{s.blobs(): true, s.loose(): true}
	for dir, allowed := range map[string][]string{
		s.blobs():    nil,
		s.locks():    {lockUse, lockManifests, "loose", "partial"},
		s.loose():    nil,
		s.partials(): nil,
	} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !slices.Contains(allowed, e.Name()) && !(inUse[dir] && named[e.Name()]) {
				return fmt.Errorf("%s is left", filepath.Join(dir, e.Name()))
			}
		}
	}
	return nil
}

// memoryDir is a directory in memory, where the system has one: the tests that
// kill hundreds of processes need no disk, and would wait for it most of
// their time.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "diglot-store-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// cloneStore copies a store, with the times of its files.
func cloneStore(t *testing.T, template string) string {
	t.Helper()
	dir := memoryDir(t)
	if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(template, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		below, err := filepath.Rel(template, path)
		if err != nil {
			return err
		}
		return os.Chtimes(filepath.Join(dir, below), info.ModTime(), info.ModTime())
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestVerbs(t *testing.T) {
	for _, v := range verbs() {
		t.Run(v.name, func(t *testing.T) {
			dir := t.TempDir()
			prepareStore(t, dir)
			s := openTest(t, dir)
			if err := v.run(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if err := checkStore(s, after(v), nil); err != nil {
				t.Error(err)
			}
			if _, err := s.Collect(t.Context()); err != nil {
				t.Error(err)
			}
			if err := checkNothingIsLeft(s); err != nil {
				t.Error(err)
			}
		})
	}
}

// after is what the store has when a verb is done.
func after(v verb) map[string]string {
	want := map[string]string{}
	for text, content := range before {
		want[text] = content
	}
	for text, content := range v.want {
		want[text] = content
	}
	return want
}

// noise is content that no two seeds share.
func noise(seed, size int) string {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", seed, i))
		b.Write(sum[:])
	}
	return b.String()[:size]
}
