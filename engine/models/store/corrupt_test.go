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

	"github.com/opencontainers/go-digest"
)

const (
	emptyDigest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	emptyLayer  = `{"mediaType":"x","digest":"` + emptyDigest + `","size":0}`
)

// badManifests are what a manifest may be in place of one.
var badManifests = []struct{ name, text, want string }{
	{"empty", ``, "invalid manifest: "},
	{"cut", `{"schemaVersion":2,"config":` + emptyLayer, "invalid manifest: "},
	{"two values", `{"config":` + emptyLayer + `} {}`, "invalid manifest: "},
	{"not JSON", "\x7fELF", "invalid manifest: "},
	{"array", `[]`, "invalid manifest: "},
	{"null", `null`, "has no config"},
	{"wrong member", `{"config":` + emptyLayer + `,"layers":"x"}`, "invalid manifest: "},
	{"no config", `{"layers":[` + emptyLayer + `]}`, "has no config"},
	{"index", `{"schemaVersion":2,"manifests":[` + emptyLayer + `]}`, "has no config"},
	{"path", `{"config":` + emptyLayer + `,"layers":[{"digest":"sha256:../../../../etc/passwd"}]}`, `"sha256:../../../../etc/passwd" is not a digest`},
	{"long path", `{"config":` + emptyLayer + `,"layers":[{"digest":"sha256:/` + strings.Repeat("a", 63) + `"}]}`, "is not a digest"},
	{"empty digest", `{"config":` + emptyLayer + `,"layers":[{"digest":""}]}`, `"" is not a digest`},
	{"short digest", `{"config":{"digest":"sha256:abc"}}`, "is not a digest"},
	{"upper case", `{"config":{"digest":"` + strings.ToUpper(emptyDigest) + `"}}`, "is not a digest"},
	{"another sum", `{"config":{"digest":"sha512:` + strings.Repeat("a", 128) + `"}}`, "is not a digest"},
	{"negative size", `{"config":{"digest":"` + emptyDigest + `","size":-1}}`, "in the manifest: -1 bytes"},
	{"size too big", `{"config":{"digest":"` + emptyDigest + `","size":9223372036854775808}}`, "invalid manifest: "},
	{"sizes too big", `{"config":{"digest":"` + emptyDigest + `","size":9223372036854775807},"layers":[{"digest":"` + emptyDigest + `","size":1}]}`, "sizes of the manifest's layers overflow"},
	{"too long", `{"config":` + emptyLayer + `,"x":"` + strings.Repeat("x", MaxManifest) + `"}`, "the limit is 4194304"},
}

func TestBadManifests(t *testing.T) {
	for _, test := range badManifests {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			s, err := Open(Options{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			putModel(t, s, "good", "x")
			broken := name(t, "broken:tag")
			write(t, s.manifestPath(broken), test.text)
			models, err := s.List(t.Context())
			if err != nil || len(models) != 1 {
				t.Errorf("List gives %v, %v, not the one that is good", models, err)
			}
			if !strings.Contains(log.String(), test.want) && !strings.Contains(log.String(), strings.ReplaceAll(test.want, `"`, `\"`)) {
				t.Errorf("the log does not say why one is skipped: %s", log.String())
			}
			_, err = s.Model(broken)
			if err == nil || !strings.Contains(err.Error(), "model broken:tag: ") || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 500 {
				t.Errorf("the error is %v", err)
			}
			if err := s.Copy(t.Context(), broken, name(t, "copy")); err == nil {
				t.Error("it could be copied")
			}
			if err := s.Remove(t.Context(), broken); err != nil {
				t.Errorf("it could not be removed: %v", err)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func age(t *testing.T, path string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

func FuzzParseManifest(f *testing.F) {
	for _, test := range badManifests {
		f.Add([]byte(test.text[:min(len(test.text), 10_000)]))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseManifest(text)
		if err != nil {
			return
		}
		s := Store{dir: "/store"}
		for _, l := range m.all() {
			path := s.BlobPath(l.Digest)
			if filepath.Dir(path) != "/store/blobs" || filepath.Clean(path) != path || l.Size < 0 {
				t.Errorf("%q names %q", text, path)
			}
		}
		again, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseManifest(again); err != nil && len(again) <= MaxManifest {
			t.Errorf("%q is written as %q, which is refused: %v", text, again, err)
		}
	})
}

func TestBlobPathOfNoDigest(t *testing.T) {
	s := openOllama(t)
	for _, d := range []digest.Digest{"", "sha256:", "x", "sha256:../x", "sha256-" + digest.Digest(strings.Repeat("a", 64)), "sha256:" + digest.Digest(strings.Repeat("A", 64))} {
		if path := s.BlobPath(d); path != "" {
			t.Errorf("%q has the path %s", d, path)
		}
		if text, err := s.ReadBlob(Layer{Digest: d}, 100); err == nil {
			t.Errorf("%q is read as %q", d, text)
		}
	}
}

func TestDamagedBlobs(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(path string) error
		want   string
		whole  bool // Whole looks at sizes alone
	}{
		{"missing", os.Remove, "is missing", false},
		{"cut", func(path string) error { return os.Truncate(path, 3) }, "has 3 bytes instead of 23", false},
		{"changed", func(path string) error { return os.WriteFile(path, []byte(`{"model_format":"g.uf"}`), 0o644) }, "digest mismatch", true},
		{"a directory", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) }, "is not a file", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := openTest(t, t.TempDir())
			m := putModel(t, s, "x:y", "weights")
			if err := test.damage(s.BlobPath(m.Manifest.Config.Digest)); err != nil {
				t.Fatal(err)
			}
			_, err := s.Config(m)
			if err == nil || !strings.HasPrefix(err.Error(), "model x:y: layer sha256:") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error of Config is %v", err)
			}
			err = s.Whole(m)
			if test.whole != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), "model x:y: layer sha256:") {
				t.Errorf("the error of Whole is %v", err)
			}
		})
	}
}

// TestDamagedBlobsAreRepaired writes what a model lacks once more.
func TestDamagedBlobsAreRepaired(t *testing.T) {
	for damage, do := range map[string]func(path string) error{
		"cut":     func(path string) error { return os.Truncate(path, 3) },
		"changed": func(path string) error { return os.WriteFile(path, make([]byte, len("weights")), 0o644) }, // as after a loss of power
	} {
		for _, verb := range []string{"write", "pull"} {
			s := openTest(t, t.TempDir())
			m := putModel(t, s, "x", "weights")
			err := do(s.BlobPath(m.Manifest.Layers[0].Digest))
			if err != nil {
				t.Fatal(err)
			}
			if verb == "write" {
				err = createModel(t.Context(), s, m.Name, "weights")
			} else {
				err = pullModel(t.Context(), s, m.Name, "weights", func(Range) {})
			}
			if err := errors.Join(err, checkStore(s, map[string]string{"x": "weights"}, nil)); err != nil {
				t.Errorf("%s, %s: %v", damage, verb, err)
			}
		}
	}
}

func TestReadBlobHasALimit(t *testing.T) {
	s := openTest(t, t.TempDir())
	l := putModel(t, s, "x", "weights").Manifest.Layers[0]
	if _, err := s.ReadBlob(l, 6); err == nil || !strings.Contains(err.Error(), "has 7 bytes; the limit for its kind is 6") {
		t.Errorf("the error is %v", err)
	}
	if text, err := s.ReadBlob(l, 7); err != nil || string(text) != "weights" {
		t.Errorf("it is read as %q, %v", text, err)
	}
}

// TestLinksAreFollowed has a store whose big files a user has put elsewhere.
func TestLinksAreFollowed(t *testing.T) {
	s := openTest(t, t.TempDir())
	m := putModel(t, s, "x", "weights")
	elsewhere := filepath.Join(t.TempDir(), "weights")
	blob := s.BlobPath(m.Manifest.Layers[0].Digest)
	if err := errors.Join(os.Rename(blob, elsewhere), os.Symlink(elsewhere, blob)); err != nil {
		t.Fatal(err)
	}
	if err := checkStore(s, map[string]string{"x": "weights"}, nil); err != nil {
		t.Error(err)
	}
	if err := s.Remove(t.Context(), m.Name); err != nil {
		t.Fatal(err)
	}
	if exists(blob) || !exists(elsewhere) {
		t.Error("not the link was removed but the file, or nothing")
	}
}

// TestFoldersElsewhere has a store whose directories a user has put on another
// disk, where there is one: no file can be renamed from one to the other.
func TestFoldersElsewhere(t *testing.T) {
	for _, moved := range [][]string{{"blobs"}, {"manifests"}, {"blobs", "manifests"}} {
		dir := t.TempDir()
		for _, directory := range moved {
			if err := os.Symlink(memoryDir(t), filepath.Join(dir, directory)); err != nil {
				t.Fatal(err)
			}
		}
		s := openTest(t, dir)
		want := map[string]string{"x": "weights", "y": "others"}
		putModel(t, s, "x", "weights")
		if err := pullModel(t.Context(), s, name(t, "y"), "others", func(Range) {}); err != nil {
			t.Errorf("%v are elsewhere: %v", moved, err)
		}
		putModel(t, s, "z", "more")
		if err := s.Remove(t.Context(), name(t, "z")); err != nil {
			t.Errorf("%v are elsewhere: %v", moved, err)
		}
		if err := checkStore(s, want, nil); err != nil {
			t.Errorf("%v are elsewhere: %v", moved, err)
		}
		if s.has(layerOf("more")) == nil {
			t.Errorf("%v are elsewhere: a blob was not collected", moved)
		}
	}
}
