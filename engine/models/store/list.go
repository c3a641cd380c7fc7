package store

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
	"sync"
	"syscall"
	"time"

	"github.com/opencontainers/go-digest"
	"golang.org/x/sync/errgroup"
)

// Model is a model in the store. Its slices are not to be changed: several
// callers may have the same.
type Model struct {
	Name     Name
	Digest   digest.Digest // of the manifest's bytes: equal for equal models, whatever their names
	Changed  time.Time     // when the manifest was written
	Size     int64         // of all layers, in bytes; models may share some
	Manifest Manifest
	Raw      []byte // the manifest as it is on disk, with members that are not known here
}

// readers is how many manifests List reads at once.
const readers = 8

// List gives all models, the one that changed last first. What is not a
// manifest is skipped, with a warning in the log. No blob is looked at:
// see [Store.Whole].
func (s *Store) List(ctx context.Context) ([]*Model, error) {
	var models []*Model
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(readers)
	found := map[string]bool{}
	err := s.walk(ctx, func(path string, err error) error {
		found[filepath.Join(s.manifests(), path)] = true
		group.Go(func() error {
			m, err := s.readPath(path, err)
			switch {
			case errors.Is(err, fs.ErrNotExist): // removed by another process since the folder was read
			case err != nil:
				if s.memo.isNew(filepath.Join(s.manifests(), path), err) { // or every request for a list would fill the log
					s.log.WarnContext(ctx, "a manifest is skipped", "path", path, "error", err)
				}
			default:
				mu.Lock()
				defer mu.Unlock()
				models = append(models, m)
			}
			return nil
		})
		return nil
	})
	if err := errors.Join(err, group.Wait()); err != nil {
		return nil, err
	}
	s.memo.keep(func(path string) bool { return found[path] })
	slices.SortFunc(models, func(a, b *Model) int {
		if c := b.Changed.Compare(a.Changed); c != 0 {
			return c
		}
		return strings.Compare(a.Name.String(), b.Name.String())
	})
	return models, nil
}

// readPath reads what walk has found.
func (s *Store) readPath(path string, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	n, ok := nameOf(path)
	if !ok {
		return nil, errors.New("the file has no model's name")
	}
	return s.read(n)
}

// Model gives the model of a name. The error is in the words of a user;
// errors.Is(err, ErrNotFound) where there is none.
func (s *Store) Model(n Name) (*Model, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	m, err := s.read(n)
	if isGone(err) { // below a file is the name of another model
		return nil, notFound(n)
	}
	return m, err
}

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
	path := s.manifestPath(n)
	if m := s.memo.find(path); m != nil {
		return m, nil
	}
	text, file, err := readManifest(path)
	if err != nil {
		return nil, fmt.Errorf("model %s: read its manifest: %w", n, err)
	}
	m, err := newModel(n, text)
	if err != nil {
		return nil, err
	}
	m.Changed = file.ModTime()
	s.memo.note(path, file, m)
	return m, nil
}

// readManifest reads a file as far as a manifest can go, and says what file it
// was before.
func readManifest(path string) (text []byte, info fs.FileInfo, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // or a pipe would be waited for
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err = f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir(): // of models whose namespace is this name
		return nil, nil, fs.ErrNotExist
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("it is not a file")
	}
	text = make([]byte, min(info.Size(), MaxManifest+1))
	n, err := io.ReadFull(f, text)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) { // Ollama does not write in one step
		err = nil
	}
	return text[:n], info, err
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
