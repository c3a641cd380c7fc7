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

// Change adds blobs and manifests to a store. Until it is closed, no process
// collects anything, so a blob that it wrote is there when the manifest that
// names it comes. Its methods may be called from any goroutine.
type Change struct {
	store *Store
	ctx   context.Context // of the operation that the change is a part of
	use   *flock.Flock
}

// Begin starts a change. It waits while another process collects. Where ctx
// has ended when the change is closed, collecting is left to a later one.
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

// Close ends the change and collects: what it wrote and no manifest names,
// what the manifests named that it replaced, and what others could not collect
// while it was under way. Close every [Partial] first. Closing twice does
// nothing.
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

// Write stores what r gives as a blob. Content that is there already is kept
// once.
func (c *Change) Write(ctx context.Context, mediaType string, r io.Reader) (Layer, error) {
	return c.write(ctx, mediaType, r, func(int64) {})
}

// Import stores a copy of a file as a blob. progress may be nil; it gets the
// bytes that were copied so far.
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
	if s.sound(l) {
		return l, nil // and not ours to throw away: an Ollama may need it soon
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

// loosen notes that a blob can go as soon as nothing names it. Nobody loses
// anything where the note is lost: the blob stays a while longer.
func (s *Store) loosen(l Layer) error {
	f, err := s.disk.open(filepath.Join(s.loose(), blobName(l.Digest)))
	if err != nil {
		return err
	}
	return f.Close()
}

// source is a reader that ends with its context and tells how far it is.
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

// onlyReader hides every other method.
type onlyReader struct{ io.Reader }

// Put writes a manifest under a name. Every blob that it names must be there,
// or the model would be a half one. A model that had the name is replaced.
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

// put writes a manifest whose blobs are there, while the caller keeps
// collection away.
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
		// A blob that was found may have got its name from another process, a
		// moment ago or just before that died.
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
	if err := s.disk.mkdir(filepath.Dir(path)); err != nil { // late, as Ollama removes empty folders
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

// loosenModel notes the layers of the model that has a name, if one has.
func (s *Store) loosenModel(n Name) error {
	old, err := s.read(n)
	if err != nil { // none, or one that cannot be read: its blobs go when they are old
		return nil
	}
	for _, l := range old.Manifest.all() {
		err = errors.Join(err, s.loosen(l))
	}
	return err
}
