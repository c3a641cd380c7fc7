package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// The extensions of the files of one download.
const (
	dataEnding    = ".data"
	journalEnding = ".journal"
	lockEnding    = ".lock"
)

// Range is a part of a blob, in bytes.
type Range struct{ Offset, Length int64 }

func (r Range) end() int64 { return r.Offset + r.Length }

// Partial is an unfinished download of a blob, written in any order. Ranges
// reported to [Partial.Done] survive a crash. It may be used by several
// goroutines.
type Partial struct {
	store *Store
	ctx   context.Context // of the whole operation
	layer Layer
	base  string // path of the files without extension
	lock  *flock.Flock
	data  *file

	mu      sync.Mutex
	journal *journal
	closed  bool
}

// Partial starts or resumes a download. It returns nil without an error if the
// blob exists and is intact. Only one process downloads a blob at a time: others
// wait until it closes the download, or ctx ends. ctx also ends Commit.
func (c *Change) Partial(ctx context.Context, l Layer) (*Partial, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	s := c.store
	if s.intact(l) {
		return nil, nil
	}
	base := filepath.Join(s.partials(), blobName(l.Digest))
	lock, err := s.exclusive(ctx, base+lockEnding)
	if err != nil {
		return nil, err
	}
	if s.intact(l) { // the previous holder of the lock finished it
		return nil, lock.Unlock()
	}
	p := &Partial{store: s, ctx: ctx, layer: l, base: base, lock: lock}
	if err := p.open(); err != nil {
		p.Close()
		return nil, p.fail(err)
	}
	return p, nil
}

func (p *Partial) fail(err error) error {
	return p.store.explain("download layer "+string(p.layer.Digest), err)
}

// open opens the files. Existing data is used only with a journal for the same
// blob and size.
func (p *Partial) open() (err error) {
	p.data, err = p.store.disk.open(p.base + dataEnding)
	if err != nil {
		return err
	}
	info, err := p.data.Stat()
	if err != nil {
		return err
	}
	p.journal, err = openJournal(p.store.disk, p.base+journalEnding, p.layer, info.Size() == p.layer.Size)
	if err != nil {
		return err
	}
	if info.Size() != p.layer.Size {
		return p.data.Truncate(p.layer.Size)
	}
	return nil
}

// Missing returns the ranges that are still to be downloaded, sorted.
func (p *Partial) Missing() []Range {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.journal.missing()
}

// WriteAt writes a part of the blob. It is durable after Done.
func (p *Partial) WriteAt(b []byte, offset int64) (int, error) {
	if err := p.inside(Range{offset, int64(len(b))}); err != nil {
		return 0, err
	}
	n, err := p.data.WriteAt(b, offset)
	if err != nil {
		return n, p.fail(err)
	}
	return n, nil
}

func (p *Partial) inside(r Range) error {
	if r.Offset < 0 || r.Length < 0 || r.Offset > p.layer.Size || r.Length > p.layer.Size-r.Offset {
		return p.fail(fmt.Errorf("%d bytes at %d are outside its %d bytes", r.Length, r.Offset, p.layer.Size))
	}
	return nil
}

// Done makes a completely written range durable and removes it from Missing.
func (p *Partial) Done(r Range) error {
	if err := p.inside(r); err != nil {
		return err
	}
	if err := p.data.Sync(); err != nil { // before the journal records it
		return p.fail(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.journal.add(r); err != nil {
		return p.fail(err)
	}
	return nil
}

// Commit makes a complete download a blob and closes it. If the content does not
// match the digest, it discards everything and fails with [ErrDigest].
func (p *Partial) Commit() error {
	if missing := p.Missing(); len(missing) > 0 {
		return p.fail(fmt.Errorf("%d bytes at %d are missing", missing[0].Length, missing[0].Offset))
	}
	sum := sha256.New()
	content := &source{ctx: p.ctx, r: io.NewSectionReader(p.data, 0, p.layer.Size), progress: func(int64) {}}
	if _, err := io.CopyBuffer(sum, onlyReader{content}, make([]byte, 1<<20)); err != nil {
		return p.fail(err)
	}
	if digestOf(sum) != p.layer.Digest {
		return errors.Join(p.fail(ErrDigest), p.drop(), p.Close())
	}
	if err := p.store.disk.settle(p.data, p.store.BlobPath(p.layer.Digest)); err != nil {
		return p.fail(err)
	}
	if err := p.drop(); err != nil { // harmless: the blob exists
		p.store.log.WarnContext(p.ctx, "files of a finished download could not be removed", "error", err)
	}
	return p.Close()
}

// drop removes the files, first the journal: without it, data is not used.
func (p *Partial) drop() error {
	return errors.Join(p.store.disk.remove(p.base+journalEnding), p.store.disk.remove(p.base+dataEnding))
}

// Close releases the download, which can be resumed later. A second Close does
// nothing.
func (p *Partial) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	var err error
	if p.data != nil {
		if err = p.data.Close(); errors.Is(err, os.ErrClosed) {
			err = nil
		}
	}
	if p.journal != nil {
		err = errors.Join(err, p.journal.close())
	}
	return errors.Join(err, p.lock.Unlock())
}
