package store

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// The locks between processes are held by the system for an open file, so a
// process that dies lets go of them. The files stay: one that was removed
// while another process waits for it would give two processes the lock.
const (
	lockUse       = "use.lock"       // shared by every Change, exclusive for Collect
	lockManifests = "manifests.lock" // exclusive for who writes or removes a manifest
)

// lockPause is how often a lock that another process holds is tried again.
const lockPause = 20 * time.Millisecond

// locks is the folder of the store's locks, on whatever file system: it must
// be the same for all processes.
func (s *Store) locks() string { return filepath.Join(s.dir, workName) }

// prepare makes the folders that every writing verb needs, and sees whether
// it may write.
func (s *Store) prepare() error {
	if err := s.writable(); err != nil {
		return err
	}
	for _, dir := range []string{s.locks(), s.manifests(), s.blobs(), s.work(s.manifests()), s.work(s.blobs()), s.loose(), s.partials()} {
		if err := s.disk.mkdir(dir); err != nil {
			return s.explain("make the model store", err)
		}
	}
	// Folders that are there say nothing about the right to write. Better to
	// know before a model is downloaded than after.
	f, err := s.disk.create(s.work(s.blobs()), "blob-*")
	if err != nil {
		return s.explain("change the model store", err)
	}
	f.discard()
	return nil
}

// loose has an empty file for each blob that was written here or belonged to
// a model: it may be collected as soon as nothing names it, since no download
// waits for it, and no Ollama is about to name it.
func (s *Store) loose() string { return filepath.Join(s.work(s.blobs()), "loose") }

// partials has what was downloaded of blobs.
func (s *Store) partials() string { return filepath.Join(s.work(s.blobs()), "partial") }

func newLock(path string) *flock.Flock {
	return flock.New(path, flock.SetPermissions(os.FileMode(0o644)))
}

// use keeps collection away until the lock is let go of.
func (s *Store) use(ctx context.Context) (*flock.Flock, error) {
	lock := newLock(filepath.Join(s.locks(), lockUse))
	if _, err := lock.TryRLockContext(ctx, lockPause); err != nil {
		return nil, s.explain("lock the model store", err)
	}
	return lock, nil
}

// exclusive waits for the lock in a file.
func (s *Store) exclusive(ctx context.Context, path string) (*flock.Flock, error) {
	lock := newLock(path)
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return nil, s.explain("lock the model store", err)
	}
	return lock, nil
}

func (s *Store) lockManifests(ctx context.Context) (*flock.Flock, error) {
	return s.exclusive(ctx, filepath.Join(s.locks(), lockManifests))
}
