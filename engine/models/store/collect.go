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
	// keepBlob is how long a blob is kept that nothing names and that is not
	// known to be of no use. It may be a layer of a download that was cut, or
	// one that Ollama has written before the manifest that will name it.
	keepBlob = 24 * time.Hour

	// keepPartial is how long an unfinished download is kept.
	keepPartial = 7 * 24 * time.Hour
)

// Collect removes the blobs that no manifest names, and what processes that
// died left behind. It gives the bytes that were freed. It does nothing while
// a change is under way in any process, and removes no blob where a manifest
// cannot be read: nobody knows which blobs that one names.
//
// Blobs that are not known to be of no use are kept for a day: they may belong
// to a download that goes on, here or in an Ollama that shares the store.
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
		s.log.DebugContext(ctx, "nothing is collected while the model store is being changed")
		return 0, nil
	}
	defer lock.Unlock()
	// Remove does not hold the first lock, so that it need not wait; a
	// manifest that goes meanwhile does no harm: its blobs stay.
	named, unknown := s.named(ctx)
	c := &collection{store: s, named: named, now: time.Now()}
	switch {
	case unknown == nil:
		err = c.blobs(ctx)
	case ctx.Err() != nil:
		return 0, ctx.Err()
	default:
		s.log.WarnContext(ctx, "no blob is collected, as it is not known which ones a manifest names", "error", unknown)
	}
	err = errors.Join(err, c.partials(ctx), c.temporary(ctx))
	if c.freed > 0 {
		s.log.InfoContext(ctx, "unused blobs were collected", "bytes", c.freed)
	}
	return c.freed, s.explain("collect unused blobs", err)
}

// tidy collects, where it is not what the caller was asked for.
func (s *Store) tidy(ctx context.Context) {
	if _, err := s.Collect(ctx); err != nil {
		s.log.WarnContext(ctx, "unused blobs could not be collected", "error", err)
	}
}

// named is every digest that a manifest names, and an error where one cannot
// be read.
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
			return nil // no manifest, and no program takes it for one
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, l := range m.all() { // also of a name that Ollama allows and this package does not
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

// blobs removes the blobs that nothing names, and parts of Ollama's downloads
// that are a day old.
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
	// The notes on blobs that are there stay: a Remove may have made one that
	// comes before the removal of a manifest that was still read here.
	return c.each(ctx, loose, func(path string, info fs.FileInfo) error {
		if exists(filepath.Join(c.store.blobs(), info.Name())) {
			return nil
		}
		return c.store.disk.remove(path)
	})
}

// partials removes the downloads that are finished, or that nobody goes on
// with. Nobody holds or waits for their locks now, as nobody has a change.
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

// lastWrite is when a download went on last.
func (c *collection) lastWrite(name string) time.Time {
	var last time.Time
	for _, ending := range []string{dataEnding, journalEnding} {
		if info, err := os.Stat(filepath.Join(c.store.partials(), name+ending)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// temporary removes what is left of writes that did not come to an end.
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

// isOllamaPartial knows the names of Ollama's unfinished downloads:
// sha256-HEX-partial, and the same with -NUMBER.
func isOllamaPartial(name string) bool {
	blob, _, found := strings.Cut(name, "-partial")
	_, ok := digestOfName(blob)
	return found && ok
}

// exists does not follow links: one that leads nowhere is there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
