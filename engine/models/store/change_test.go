package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPutWantsEveryBlob(t *testing.T) {
	s := openTest(t, t.TempDir())
	c := begin(t, s)
	there, err := c.Write(t.Context(), MediaTypeConfig, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	short := there
	short.Size++
	for _, test := range []struct {
		name     string
		manifest Manifest
		want     string
	}{
		{"no layer", Manifest{Config: there, Layers: []Layer{layerOf("x")}}, "is missing: pull or create the model again"},
		{"no config", Manifest{Config: layerOf("x")}, "is missing: pull or create the model again"},
		{"another size", Manifest{Config: there, Layers: []Layer{short}}, "has 2 bytes instead of 3"},
		{"a path", Manifest{Config: there, Layers: []Layer{{Digest: "sha256:../x"}}}, "is not a digest"},
	} {
		text, err := test.manifest.Encode()
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.Put(t.Context(), name(t, "half"), text)
		if m != nil || err == nil || !strings.HasPrefix(err.Error(), "model half: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v", test.name, m, err)
		}
	}
	if err := checkStore(s, nil, nil); err != nil {
		t.Error(err)
	}
}

// TestPutKeepsTheBytes has a manifest with members that are not known here.
func TestPutKeepsTheBytes(t *testing.T) {
	s := openTest(t, t.TempDir())
	c := begin(t, s)
	l, err := c.Write(t.Context(), MediaTypeConfig, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	text := `{"annotations":{"a":"b"},"later": 1, "config":{"mediaType":"m","digest":"` + string(l.Digest) + `","size":2,"annotations":{"c":"d"},"urls":[]},"layers":[]}` + "\n"
	put, err := c.Put(t.Context(), name(t, "x"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Copy(t.Context(), put.Name, name(t, "y")); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"x", "y"} {
		m, err := s.Model(name(t, n))
		if err != nil || string(m.Raw) != text || m.Digest != put.Digest || m.Manifest.Config.Annotations["c"] != "d" {
			t.Errorf("%s is %+v, %v", n, m, err)
		}
	}
}

func TestSameContentIsKeptOnce(t *testing.T) {
	s := openTest(t, t.TempDir())
	a, b := putModel(t, s, "a", "weights"), putModel(t, s, "b", "weights")
	if a.Digest != b.Digest {
		t.Errorf("models of the same content have the digests %s and %s", a.Digest, b.Digest)
	}
	entries, err := os.ReadDir(s.blobs())
	if err != nil || len(entries) != 2 {
		t.Errorf("there are %d blobs, %v; not the layer and the config", len(entries), err)
	}
}

// TestNamesThatDifferInCase are refused, on whatever file system.
func TestNamesThatDifferInCase(t *testing.T) {
	s := openTest(t, t.TempDir())
	m := putModel(t, s, "hf.co/Org/Model:Q4", "weights")
	c := begin(t, s)
	for _, test := range []struct {
		name    string
		allowed bool
	}{
		{"hf.co/org/Model:Q4", false},
		{"hf.co/Org/model:Q4", false},
		{"hf.co/Org/Model:q4", false},
		{"HF.co/Org/Model:Q4", false},
		{"hf.co/Org/Model:Q4", true},
		{"hf.co/org/Model:Q5", true},
		{"hf.co/Org/Model:Q40", true},
		{"other.example/org/model:q4", true},
	} {
		_, errPut := c.Put(t.Context(), name(t, test.name), m.Raw)
		errCopy := s.Copy(t.Context(), m.Name, name(t, test.name))
		for _, err := range []error{errPut, errCopy, c.CheckName(name(t, test.name))} {
			if test.allowed != (err == nil) || err != nil && !strings.Contains(err.Error(), "model hf.co/Org/Model:Q4:") {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
}

// TestNamesThatAreFoldersOfOthers are both a file and a directory.
func TestNamesThatAreFoldersOfOthers(t *testing.T) {
	for _, test := range [][2]string{
		{"h.example/a/b/c:d", "h.example/a/b:c"},
		{"h.example/a/b:c", "h.example/a/b/c:d"},
	} {
		s := openTest(t, t.TempDir())
		m := putModel(t, s, test[0], "weights")
		for _, err := range []error{s.Copy(t.Context(), m.Name, name(t, test[1])), begin(t, s).CheckName(name(t, test[1]))} {
			if err == nil || !strings.HasPrefix(err.Error(), "model "+test[1]+": conflicts with model") {
				t.Errorf("%s beside %s: %v", test[1], test[0], err)
			}
		}
		if _, err := s.Model(name(t, test[1])); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s is found: %v", test[1], err)
		}
		if err := s.Remove(t.Context(), name(t, test[1])); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s can be removed: %v", test[1], err)
		}
		if err := checkStore(s, map[string]string{test[0]: "weights"}, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestImport(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, filepath.Join(dir, "store"))
	c := begin(t, s)
	content := noise(5, 3<<20)
	file := filepath.Join(dir, "model.gguf")
	write(t, file, content)
	var told []int64
	l, err := c.Import(t.Context(), MediaTypeModel, file, func(done int64) { told = append(told, done) })
	if err != nil {
		t.Fatal(err)
	}
	want := layerOf(content)
	if diff := cmp.Diff(want, l); diff != "" {
		t.Errorf("the layer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{1 << 20, 2 << 20, 3 << 20}, told); diff != "" {
		t.Errorf("what was told (-want +got):\n%s", diff)
	}
	if err := s.has(want); err != nil {
		t.Error(err)
	}
	for _, test := range []struct{ path, want string }{
		{dir, "is not a file"},
		{filepath.Join(dir, "missing"), "no such file"},
		{os.DevNull, "is not a file"},
	} {
		if _, err := c.Import(t.Context(), MediaTypeModel, test.path, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.path, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Import(ctx, MediaTypeModel, file, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}

// TestLocksAreWaitedFor holds each lock in turn, and sees who waits until its
// context ends.
func TestLocksAreWaitedFor(t *testing.T) {
	s := openTest(t, t.TempDir())
	m := putModel(t, s, "x", "weights")
	other := name(t, "y")
	c := begin(t, s)
	put := func(ctx context.Context) error { _, err := c.Put(ctx, other, m.Raw); return err }
	for _, test := range []struct {
		name, lock string
		run        func(context.Context) error
	}{
		{"put", lockManifests, put},
		{"copy", lockManifests, func(ctx context.Context) error { return s.Copy(ctx, m.Name, other) }},
		{"remove", lockManifests, func(ctx context.Context) error { return s.Remove(ctx, m.Name) }},
		{"begin", lockUse, func(ctx context.Context) error { _, err := s.Begin(ctx); return err }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.lock == lockUse {
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Test(t, func(t *testing.T) {
				lock, err := s.exclusive(t.Context(), filepath.Join(s.locks(), test.lock))
				if err != nil {
					t.Fatal(err)
				}
				defer lock.Unlock()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := test.run(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it did not wait: %v", err)
				}
			})
		})
	}
	if err := checkStore(s, map[string]string{"x": "weights"}, nil); err != nil {
		t.Error(err)
	}
}

// TestRemoveLeavesNoFolders keeps those of others.
func TestRemoveLeavesNoFolders(t *testing.T) {
	s := openTest(t, t.TempDir())
	for _, text := range []string{"h.example/a/b/c:d", "h.example/a/x:d"} {
		putModel(t, s, text, "weights")
	}
	if err := s.Remove(t.Context(), name(t, "h.example/a/b/c:d")); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(s.manifests(), "h.example", "a", "b")) {
		t.Error("an empty directory is left")
	}
	if err := checkStore(s, map[string]string{"h.example/a/x:d": "weights"}, nil); err != nil {
		t.Error(err)
	}
}
