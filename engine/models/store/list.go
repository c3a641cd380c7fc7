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

// Model is a stored model. Its slices may be shared and must not be changed.
type Model struct {
	Name     Name
	Digest   digest.Digest // of the manifest
	Changed  time.Time     // modification time of the manifest
	Size     int64         // bytes of config and all layers; models may share layers
	Manifest Manifest
	Raw      []byte // the manifest as stored, with unknown fields
}

// readers is the number of manifests that List reads concurrently.
const readers = 8

// List returns all models, newest first. Invalid manifests are skipped with a
// warning in the log. Blobs are not checked: see [Store.Whole].
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
			case errors.Is(err, fs.ErrNotExist): // removed by another process
			case err != nil:
				if s.memo.isNew(filepath.Join(s.manifests(), path), err) { // log it once, not with every list
					s.log.WarnContext(ctx, "manifest skipped", "path", path, "error", err)
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

// readPath reads a manifest that walk found.
func (s *Store) readPath(path string, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	n, ok := nameOf(path)
	if !ok {
		return nil, errors.New("its path is not a model name")
	}
	return s.read(n)
}

// Model returns the model of a name, or [ErrNotFound]. The error is written for
// users.
func (s *Store) Model(n Name) (*Model, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	m, err := s.read(n)
	if isGone(err) {
		return nil, notFound(n)
	}
	return m, err
}

// Whole fails if a blob of the model is missing or has the wrong size. It does
// not read the content.
func (s *Store) Whole(m *Model) error {
	for _, l := range m.Manifest.all() {
		if _, err := s.Find(l); err != nil {
			return fmt.Errorf("model %s: %w", m.Name, err)
		}
	}
	return nil
}

// read reads the manifest of a checked name.
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

// readManifest reads a manifest, at most one byte above the limit. info is from
// before the read, so that a later change shows.
func readManifest(path string) (text []byte, info fs.FileInfo, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not wait for the writer of a pipe
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err = f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir(): // part of another model's namespace
		return nil, nil, fs.ErrNotExist
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("it is not a file")
	}
	text = make([]byte, min(info.Size(), MaxManifest+1))
	n, err := io.ReadFull(f, text)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) { // Ollama is writing it
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
