package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/opencontainers/go-digest"
)

// Change adds blobs and manifests to a store. While it is open, no process
// collects, so its blobs stay until a manifest names them. It may be used by
// several goroutines.
type Change struct {
	store *Store
	ctx   context.Context // of the whole operation
	use   *flock.Flock
}

// Begin starts a change. It waits while another process collects. If ctx has
// ended when the change is closed, a later change collects.
func (s *Store) Begin(ctx context.Context) (*Change, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	use, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	return &Change{store: s, ctx: ctx, use: use}, nil
}

// Close ends the change and collects unreferenced blobs. Close every [Partial]
// first. A second Close does nothing.
func (c *Change) Close() error {
	if !c.use.RLocked() {
		return nil
	}
	if err := c.use.Unlock(); err != nil {
		return fmt.Errorf("unlock the model store: %w", err)
	}
	if c.ctx.Err() == nil {
		c.store.tidy(c.ctx)
	}
	return nil
}

// Write stores the content of r as a blob, unless it is stored already.
func (c *Change) Write(ctx context.Context, mediaType string, r io.Reader) (Layer, error) {
	return c.write(ctx, mediaType, r, func(int64) {})
}

// Import stores a copy of a file as a blob. progress gets the number of bytes
// copied so far; it may be nil.
func (c *Change) Import(ctx context.Context, mediaType, path string, progress func(done int64)) (Layer, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		return Layer{}, fmt.Errorf("import a file: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return Layer{}, fmt.Errorf("import a file: %w", err)
	}
	defer f.Close()
	if progress == nil {
		progress = func(int64) {}
	}
	return c.write(ctx, mediaType, f, progress)
}

func (c *Change) write(ctx context.Context, mediaType string, r io.Reader, progress func(int64)) (Layer, error) {
	s := c.store
	f, err := s.disk.create(s.work(s.blobs()), "blob-*")
	if err != nil {
		return Layer{}, s.explain("write a layer", err)
	}
	defer f.discard()
	sum := sha256.New()
	size, err := io.CopyBuffer(io.MultiWriter(f, sum), onlyReader{&source{ctx: ctx, r: r, progress: progress}}, make([]byte, 1<<20))
	if err != nil {
		return Layer{}, s.explain("write a layer", err)
	}
	l := Layer{MediaType: mediaType, Digest: digestOf(sum), Size: size}
	if s.intact(l) {
		return l, nil // not marked collectable: Ollama may be about to name it
	}
	if err := s.loosen(l); err != nil {
		return Layer{}, s.explain("write a layer", err)
	}
	if err := s.disk.settle(f, s.BlobPath(l.Digest)); err != nil {
		return Layer{}, s.explain("write a layer", err)
	}
	return l, nil
}

func digestOf(h hash.Hash) digest.Digest { return digest.NewDigest(digest.SHA256, h) }

// loosen marks a blob as collectable once it is unreferenced. If the marker is
// lost, the blob only stays until it is a day old.
func (s *Store) loosen(l Layer) error {
	f, err := s.disk.open(filepath.Join(s.loose(), blobName(l.Digest)))
	if err != nil {
		return err
	}
	return f.Close()
}

// source is a reader that ends with its context and reports progress.
type source struct {
	ctx      context.Context
	r        io.Reader
	done     int64
	progress func(int64)
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	s.done += int64(n)
	if n > 0 {
		s.progress(s.done)
	}
	return n, err
}

// onlyReader hides WriterTo and ReaderFrom from io.CopyBuffer.
type onlyReader struct{ io.Reader }

// Put stores a manifest under a name, and replaces an existing one. All its
// blobs must exist.
func (c *Change) Put(ctx context.Context, n Name, manifest []byte) (*Model, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	m, err := newModel(n, manifest)
	if err != nil {
		return nil, err
	}
	if err := c.store.Whole(m); err != nil {
		return nil, err
	}
	if err := c.store.put(ctx, m); err != nil {
		return nil, err
	}
	return m, nil
}

// put writes a manifest. The caller has checked the blobs and holds a change.
func (s *Store) put(ctx context.Context, m *Model) error {
	lock, err := s.lockManifests(ctx)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err := s.refuseClash(m.Name); err != nil {
		return err
	}
	err = s.loosenModel(m.Name)
	if err == nil {
		// Another process may have renamed a blob just now, and died before it
		// synced the directory.
		err = s.disk.syncDir(s.blobs())
	}
	if err == nil {
		err = s.writeManifest(m)
	}
	return s.explain("write model "+m.Name.String(), err)
}

func (s *Store) writeManifest(m *Model) error {
	path := s.manifestPath(m.Name)
	f, err := s.disk.create(s.work(s.manifests()), "manifest-*")
	if err != nil {
		return err
	}
	defer f.discard()
	if _, err := f.Write(m.Raw); err != nil {
		return err
	}
	if err := s.disk.mkdir(filepath.Dir(path)); err != nil { // late, because Ollama removes empty directories
		return err
	}
	if err := s.disk.settle(f, path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	m.Changed = info.ModTime()
	return nil
}

// loosenModel marks all blobs of an existing model as collectable.
func (s *Store) loosenModel(n Name) error {
	old, err := s.read(n)
	if err != nil { // no such model, or unreadable: its blobs are collected after a day
		return nil
	}
	for _, l := range old.Manifest.all() {
		err = errors.Join(err, s.loosen(l))
	}
	return err
}
