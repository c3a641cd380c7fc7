package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Copy stores a model under a second name, and replaces a model of that name.
func (s *Store) Copy(ctx context.Context, from, to Name) error {
	if err := to.Check(); err != nil {
		return err
	}
	c, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	m, err := s.Model(from)
	if err != nil || from == to {
		return err
	}
	_, err = c.Put(ctx, to, m.Raw)
	return err
}

// Remove removes a name, and then its unreferenced blobs. While a change is
// open, the blobs are left to a later Collect.
func (s *Store) Remove(ctx context.Context, n Name) error {
	if err := n.Check(); err != nil {
		return err
	}
	if err := s.removeManifest(ctx, n); err != nil {
		return err
	}
	s.tidy(ctx)
	return nil
}

func (s *Store) removeManifest(ctx context.Context, n Name) error {
	if err := s.writable(); err != nil {
		return err
	}
	path := s.manifestPath(n)
	if err := findManifest(n, path); err != nil { // before prepare creates a store
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	lock, err := s.lockManifests(ctx)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err := findManifest(n, path); err != nil {
		return err
	}
	err = s.loosenModel(n)
	if err == nil {
		err = s.disk.remove(path)
	}
	if err == nil {
		err = s.prune(filepath.Dir(path))
	}
	return s.explain("remove model "+n.String(), err)
}

// findManifest accepts any file at the path: an unreadable manifest can be
// removed.
func findManifest(n Name, path string) error {
	info, err := os.Lstat(path)
	switch {
	case isGone(err), err == nil && info.IsDir():
		return notFound(n)
	case err != nil:
		return fmt.Errorf("remove model %s: %w", n, err)
	}
	return nil
}

// prune makes the removal of a name durable, and removes empty directories.
func (s *Store) prune(dir string) error {
	for ; strings.HasPrefix(dir, s.manifests()+string(filepath.Separator)); dir = filepath.Dir(dir) {
		if err := s.disk.syncDir(dir); err != nil {
			return err
		}
		if err := s.disk.remove(dir); err != nil {
			return nil // not empty
		}
	}
	return nil
}
