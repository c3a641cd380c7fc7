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

// The files of one unfinished download, beside each other.
const (
	dataEnding    = ".data"
	journalEnding = ".journal"
	lockEnding    = ".lock"
)

// Range is a part of a blob, in bytes.
type Range struct{ Offset, Length int64 }

func (r Range) end() int64 { return r.Offset + r.Length }

// Partial is a blob that is being downloaded, in any order. What was reported
// by [Partial.Done] survives a crash. Its methods may be called from any
// goroutine.
type Partial struct {
	store *Store
	ctx   context.Context // of the operation that the download is a part of
	layer Layer
	base  string // path of the files, without an ending
	lock  *flock.Flock
	data  *file

	mu      sync.Mutex
	journal *journal
	closed  bool
}

// Partial begins a download, or goes on with one that was cut. It is nil,
// without an error, where the blob is there already; a small one that is damaged
// is not. One process at a time
// has the download of a blob: others wait until it is closed, or ctx ends.
// ctx ends Commit as well.
func (c *Change) Partial(ctx context.Context, l Layer) (*Partial, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	s := c.store
	if s.sound(l) {
		return nil, nil
	}
	base := filepath.Join(s.partials(), blobName(l.Digest))
	lock, err := s.exclusive(ctx, base+lockEnding)
	if err != nil {
		return nil, err
	}
	if s.sound(l) { // who had the lock has finished it
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

// open opens the files. Data is used only with a journal that was begun for
// the same blob and the same size.
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

// Missing is what is still to be downloaded, in order.
func (p *Partial) Missing() []Range {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.journal.missing()
}

// WriteAt takes a part of the blob. It is not kept for sure before Done.
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
		return p.fail(fmt.Errorf("%d bytes at %d are not inside its %d bytes", r.Length, r.Offset, p.layer.Size))
	}
	return nil
}

// Done says that a part was written as a whole: it is on the disk when Done
// returns, and is not missing any more, whatever happens to the process.
func (p *Partial) Done(r Range) error {
	if err := p.inside(r); err != nil {
		return err
	}
	if err := p.data.Sync(); err != nil { // before the journal says so
		return p.fail(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.journal.add(r); err != nil {
		return p.fail(err)
	}
	return nil
}

// Commit makes a blob of a download that misses nothing, and closes it. Where
// the content is not what the digest says, all of it is thrown away, and
// errors.Is(err, ErrDigest).
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
	if err := p.drop(); err != nil { // which does no harm: the blob is there
		p.store.log.WarnContext(p.ctx, "what is left of a download could not be removed", "error", err)
	}
	return p.Close()
}

// drop removes the files; the journal goes first, as data is nothing without
// it.
func (p *Partial) drop() error {
	return errors.Join(p.store.disk.remove(p.base+journalEnding), p.store.disk.remove(p.base+dataEnding))
}

// Close lets go of the download and keeps what is done, for the next one to
// go on with. Closing twice does nothing.
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
