package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
)

const (
	// keepBlob is how long an unreferenced blob is kept that is not marked
	// collectable. It may be from an interrupted download, or Ollama may be
	// about to write a manifest that names it.
	keepBlob = 24 * time.Hour

	// keepPartial is how long an unfinished download is kept.
	keepPartial = 7 * 24 * time.Hour
)

// Collect removes unreferenced blobs, and what dead processes left behind. It
// returns the number of bytes freed. It does nothing while any process has a
// change open, and removes no blob if a manifest cannot be read, because that
// manifest may name it.
func (s *Store) Collect(ctx context.Context) (freed int64, err error) {
	if err := s.prepare(); err != nil {
		return 0, err
	}
	lock := newLock(filepath.Join(s.locks(), lockUse))
	locked, err := lock.TryLock()
	if err != nil {
		return 0, s.explain("lock the model store", err)
	}
	if !locked {
		s.log.DebugContext(ctx, "blobs not collected: the model store is being changed")
		return 0, nil
	}
	defer lock.Unlock()
	// Remove does not take this lock, so that it need not wait. If it removes a
	// manifest now, the blobs stay until the next collection.
	named, unknown := s.named(ctx)
	c := &collection{store: s, named: named, now: time.Now()}
	switch {
	case unknown == nil:
		err = c.blobs(ctx)
	case ctx.Err() != nil:
		return 0, ctx.Err()
	default:
		s.log.WarnContext(ctx, "blobs not collected: a manifest cannot be read", "error", unknown)
	}
	err = errors.Join(err, c.partials(ctx), c.temporary(ctx))
	if c.freed > 0 {
		s.log.InfoContext(ctx, "unused blobs collected", "bytes", c.freed)
	}
	return c.freed, s.explain("collect unused blobs", err)
}

// tidy collects after another operation, which an error must not fail.
func (s *Store) tidy(ctx context.Context) {
	if _, err := s.Collect(ctx); err != nil {
		s.log.WarnContext(ctx, "collecting unused blobs failed", "error", err)
	}
}

// named returns every digest that a manifest names. It fails if a manifest
// cannot be read.
func (s *Store) named(ctx context.Context) (map[digest.Digest]bool, error) {
	named := map[digest.Digest]bool{}
	err := s.walk(ctx, func(path string, err error) error {
		if err != nil {
			return err
		}
		text, _, err := readManifest(filepath.Join(s.manifests(), path))
		if isGone(err) && !exists(filepath.Join(s.manifests(), path)) {
			return nil // removed by another process
		}
		if err != nil {
			return err
		}
		m, err := ParseManifest(text)
		if _, ok := nameOf(path); err != nil && !ok {
			return nil // not a manifest, for Ollama neither
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, l := range m.all() { // even if only Ollama accepts the name
			named[l.Digest] = true
		}
		return nil
	})
	return named, err
}

// collection is one run of Collect.
type collection struct {
	store *Store
	named map[digest.Digest]bool
	now   time.Time
	freed int64
}

// blobs removes unreferenced blobs, and Ollama's unfinished downloads after a
// day.
func (c *collection) blobs(ctx context.Context) error {
	loose := c.store.loose()
	err := c.each(ctx, c.store.blobs(), func(path string, info fs.FileInfo) error {
		d, ok := digestOfName(info.Name())
		switch {
		case !ok && !isOllamaPartial(info.Name()):
			return nil
		case ok && c.named[d]:
			return nil
		case ok && exists(filepath.Join(loose, info.Name())):
		case c.now.Sub(info.ModTime()) < keepBlob:
			return nil
		}
		return c.remove(path, info)
	})
	if err != nil {
		return err
	}
	// Markers of existing blobs stay: a Remove may have set one and not yet
	// removed the manifest that was read above.
	return c.each(ctx, loose, func(path string, info fs.FileInfo) error {
		if exists(filepath.Join(c.store.blobs(), info.Name())) {
			return nil
		}
		return c.store.disk.remove(path)
	})
}

// partials removes downloads that are finished or abandoned. Nobody holds or
// waits for their locks, because no change is open.
func (c *collection) partials(ctx context.Context) error {
	return c.each(ctx, c.store.partials(), func(path string, info fs.FileInfo) error {
		name := strings.TrimSuffix(info.Name(), filepath.Ext(info.Name()))
		finished := exists(filepath.Join(c.store.blobs(), name))
		if !finished && c.now.Sub(c.lastWrite(name)) < keepPartial {
			return nil
		}
		return c.remove(path, info)
	})
}

// lastWrite is the time of the last write of a download.
func (c *collection) lastWrite(name string) time.Time {
	var last time.Time
	for _, ending := range []string{dataEnding, journalEnding} {
		if info, err := os.Stat(filepath.Join(c.store.partials(), name+ending)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// temporary removes files of interrupted writes.
func (c *collection) temporary(ctx context.Context) error {
	sweep := func(path string, info fs.FileInfo) error {
		if !strings.HasPrefix(info.Name(), "blob-") && !strings.HasPrefix(info.Name(), "manifest-") {
			return nil
		}
		return c.remove(path, info)
	}
	err := c.each(ctx, c.store.work(c.store.blobs()), sweep)
	return errors.Join(err, c.each(ctx, c.store.work(c.store.manifests()), sweep))
}

func (c *collection) each(ctx context.Context, dir string, visit func(path string, info fs.FileInfo) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil || info.IsDir() {
			continue
		}
		if err := visit(filepath.Join(dir, e.Name()), info); err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) remove(path string, info fs.FileInfo) error {
	if err := c.store.disk.remove(path); err != nil {
		return err
	}
	c.freed += info.Size()
	return nil
}

func digestOfName(name string) (digest.Digest, bool) {
	hex, found := strings.CutPrefix(name, "sha256-")
	d := digest.Digest("sha256:" + hex)
	return d, found && checkDigest(d) == nil
}

// isOllamaPartial reports whether name is an unfinished download of Ollama:
// sha256-HEX-partial or sha256-HEX-partial-NUMBER.
func isOllamaPartial(name string) bool {
	blob, _, found := strings.Cut(name, "-partial")
	_, ok := digestOfName(blob)
	return found && ok
}

// exists does not follow links: a dangling one exists.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
