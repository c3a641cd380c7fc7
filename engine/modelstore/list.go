package modelstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
)

// Model is a model in the store.
type Model struct {
	Name     Name
	Digest   digest.Digest // of the manifest's bytes: equal for equal models, whatever their names
	Changed  time.Time     // when the manifest was written
	Size     int64         // of all layers, in bytes; models may share some
	Manifest Manifest
	Raw      []byte // the manifest as it is on disk, with members that are not known here
}

// List gives all models, the one that changed last first. What is not a
// manifest is skipped, with a warning in the log. No blob is looked at:
// see [Store.Whole].
func (s *Store) List(ctx context.Context) ([]*Model, error) {
	var models []*Model
	err := s.walk(ctx, func(n Name, m *Model, err error) error {
		if err != nil {
			s.log.WarnContext(ctx, "a manifest is skipped", "model", n.String(), "error", err)
			return nil
		}
		models = append(models, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(models, func(a, b *Model) int {
		if c := b.Changed.Compare(a.Changed); c != 0 {
			return c
		}
		return strings.Compare(a.Name.String(), b.Name.String())
	})
	return models, nil
}

// Model gives the model of a name. The error is in the words of a user;
// errors.Is(err, ErrNotFound) where there is none.
func (s *Store) Model(n Name) (*Model, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	m, err := s.read(n)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(n)
	}
	return m, err
}

func notFound(n Name) error { return fmt.Errorf("model %s: %w", n, ErrNotFound) }

// Whole says what is missing: every blob of the model must be there with its
// size. The content is not read.
func (s *Store) Whole(m *Model) error {
	for _, l := range m.Manifest.all() {
		if err := s.has(l); err != nil {
			return fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	return nil
}

// read reads the manifest of a name that was checked.
func (s *Store) read(n Name) (*Model, error) {
	f, err := os.Open(s.manifestPath(n))
	if err != nil {
		if isNotDir(err) { // a part of the name is a file: another model
			err = fs.ErrNotExist
		}
		return nil, fmt.Errorf("model %s: read its manifest: %w", n, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("model %s: read its manifest: %w", n, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return nil, fmt.Errorf("model %s: read its manifest: %w", n, err)
	}
	m, err := newModel(n, text)
	if err != nil {
		return nil, err
	}
	m.Changed = info.ModTime()
	return m, nil
}

func newModel(n Name, text []byte) (*Model, error) {
	manifest, err := ParseManifest(text)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", n, err)
	}
	m := &Model{Name: n, Digest: digest.FromBytes(text), Manifest: manifest, Raw: text}
	for _, l := range manifest.all() {
		m.Size += l.Size
	}
	return m, nil
}

// walk visits every file that is below the folder of manifests and has a
// name. Other files are noted in the log. visit gets an error in place of the
// model where the manifest cannot be read.
func (s *Store) walk(ctx context.Context, visit func(Name, *Model, error) error) error {
	return s.walkDir(ctx, "", 0, visit)
}

// maxDepth is more than the folders of any name: its namespace has at most
// maxSpace characters.
const maxDepth = maxSpace/2 + 4

func (s *Store) walkDir(ctx context.Context, below string, depth int, visit func(Name, *Model, error) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(s.manifests(), below))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the models: %w", err)
	}
	for _, e := range entries {
		if err := s.visit(ctx, filepath.Join(below, e.Name()), e, depth, visit); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) visit(ctx context.Context, path string, e fs.DirEntry, depth int, visit func(Name, *Model, error) error) error {
	if strings.HasPrefix(e.Name(), ".") { // ours, or one of the many that file managers leave
		return nil
	}
	isDir := e.IsDir()
	if e.Type()&fs.ModeSymlink != 0 {
		info, err := os.Stat(filepath.Join(s.manifests(), path))
		isDir = err == nil && info.IsDir()
	}
	if isDir {
		if depth >= maxDepth {
			return nil
		}
		return s.walkDir(ctx, path, depth+1, visit)
	}
	n, ok := nameOf(path)
	if !ok {
		s.log.WarnContext(ctx, "a file among the manifests has no model's name", "path", path)
		return nil
	}
	m, err := s.read(n)
	if errors.Is(err, fs.ErrNotExist) && e.Type()&fs.ModeSymlink == 0 {
		return nil // removed by another process since the folder was read
	}
	return visit(n, m, err)
}
