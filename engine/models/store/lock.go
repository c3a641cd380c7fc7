package store

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Locks between processes are flock locks, which the system releases when a
// process dies. Lock files are never removed: otherwise a process that waits for
// the removed file could hold the lock together with one of the new file.
const (
	lockUse       = "use.lock"       // shared by every Change, exclusive for Collect
	lockManifests = "manifests.lock" // exclusive for writing or removing a manifest
)

// lockPause is the time between two attempts to get a lock.
const lockPause = 20 * time.Millisecond

// locks is the directory of the lock files. Unlike work, it is the same on any
// file system layout.
func (s *Store) locks() string { return filepath.Join(s.dir, workName) }

// prepare creates the directories for a write, and checks that it may write.
func (s *Store) prepare() error {
	if err := s.writable(); err != nil {
		return err
	}
	for _, dir := range []string{s.locks(), s.manifests(), s.blobs(), s.work(s.manifests()), s.work(s.blobs()), s.loose(), s.partials()} {
		if err := s.disk.mkdir(dir); err != nil {
			return s.explain("make the model store", err)
		}
	}
	// Existing directories may not be writable. Fail now, not after a download.
	f, err := s.disk.create(s.work(s.blobs()), "blob-*")
	if err != nil {
		return s.explain("change the model store", err)
	}
	f.discard()
	return nil
}

// loose is the directory of markers: an empty file for each blob that diglot
// wrote or that belonged to a model. Such a blob is collected as soon as it is
// unreferenced, because neither a download nor Ollama is about to name it.
func (s *Store) loose() string { return filepath.Join(s.work(s.blobs()), "loose") }

// partials is the directory of unfinished downloads.
func (s *Store) partials() string { return filepath.Join(s.work(s.blobs()), "partial") }

func newLock(path string) *flock.Flock {
	return flock.New(path, flock.SetPermissions(os.FileMode(0o644)))
}

// use prevents collection until the lock is released.
func (s *Store) use(ctx context.Context) (*flock.Flock, error) {
	lock := newLock(filepath.Join(s.locks(), lockUse))
	if _, err := lock.TryRLockContext(ctx, lockPause); err != nil {
		return nil, s.explain("lock the model store", err)
	}
	return lock, nil
}

// exclusive waits for an exclusive lock.
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
