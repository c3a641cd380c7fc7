package registry

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/diglot/diglot/engine/models/store"
)

const (
	// checkpoint is the number of bytes between two syncs of a stream. More syncs
	// are slow on slow disks; fewer lose more in a crash.
	checkpoint = 16 << 20

	copyBuffer = 256 << 10

	// progressed is the number of bytes after which an attempt resets the count
	// of retries. It bounds the attempts per blob.
	progressed = 1 << 20
)

// download fetches blobs into a store.
type download struct {
	*session
	change *store.Change
	board  *board
	slots  chan struct{} // one per connection
}

func (s *session) newDownload(c *store.Change, progress func(Progress)) *download {
	return &download{session: s, change: c, board: &board{report: progress}, slots: make(chan struct{}, s.config.Connections)}
}

// blob downloads one blob unless the store has it, and checks its digest.
func (d *download) blob(ctx context.Context, l store.Layer) error {
	bar := d.board.meter(l)
	partial, err := d.change.Partial(ctx, l)
	if err != nil {
		return local(err)
	}
	if partial == nil {
		bar.turn(StatusPresent, l.Size)
		return nil
	}
	defer partial.Close()
	parts, err := d.split(ctx, l, partial.Missing())
	if err != nil {
		return err
	}
	bar.resumed(StatusDownload, l.Size-length(parts))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(d.config.Connections)
	for _, p := range parts {
		group.Go(func() error { return d.part(inner, l, p, partial, bar) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	bar.turn(StatusCheck, l.Size)
	if err := partial.Commit(); err != nil {
		return local(err)
	}
	bar.turn(StatusDone, l.Size)
	return nil
}

// length is the total length of ranges.
func length(ranges []store.Range) int64 {
	n := int64(0)
	for _, r := range ranges {
		n += r.Length
	}
	return n
}

// split splits missing ranges into chunks for concurrent requests. Without
// range support it returns a single range, from the first gap to the end.
func (d *download) split(ctx context.Context, l store.Layer, missing []store.Range) ([]store.Range, error) {
	var parts []store.Range
	for _, m := range missing {
		for m.Length > 0 {
			part := store.Range{Offset: m.Offset, Length: min(m.Length, d.config.Chunk)}
			parts = append(parts, part)
			m.Offset, m.Length = m.Offset+part.Length, m.Length-part.Length
		}
	}
	if len(parts) < 2 {
		return parts, nil
	}
	served, err := d.servesRanges(ctx, l)
	if err != nil || served {
		return parts, err
	}
	first := missing[0].Offset
	return []store.Range{{Offset: first, Length: l.Size - first}}, nil
}

// servesRanges requests one byte, which is the only reliable test: servers
// advertise ranges wrongly, and a redirect for HEAD may be signed for HEAD only.
func (d *download) servesRanges(ctx context.Context, l store.Layer) (served bool, err error) {
	again := d.retries()
	for {
		served, err = d.probe(ctx, l)
		if err == nil {
			return served, nil
		}
		if err := again.wait(ctx, err); err != nil {
			return false, err
		}
	}
}

func (d *download) probe(ctx context.Context, l store.Layer) (bool, error) {
	if err := d.take(ctx); err != nil {
		return false, err
	}
	defer d.give()
	ctx, guard := watch(ctx, d.config.Stall)
	defer guard.stop()
	resp, err := d.get(ctx, blobs, l.Digest.String(), http.Header{"Range": {"bytes=0-0"}})
	if err != nil {
		return false, cause(ctx, err)
	}
	if _, err := position(resp, l, 0); err != nil {
		resp.Body.Close()
		return false, err
	}
	if resp.StatusCode != http.StatusPartialContent {
		resp.Body.Close() // do not read the whole blob
		return false, nil
	}
	drain(resp.Body)
	return true, nil
}

// take waits for a free connection slot.
func (d *download) take(ctx context.Context) error {
	select {
	case d.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *download) give() { <-d.slots }

// part downloads a range of a blob, with retries. What arrived is kept even if
// it fails.
func (d *download) part(ctx context.Context, l store.Layer, r store.Range, p *store.Partial, bar *meter) error {
	if err := d.take(ctx); err != nil {
		return err
	}
	defer d.give()
	out := &sink{partial: p, bar: bar, at: r.Offset, safe: r.Offset}
	again := d.retries()
	for {
		before := out.at
		err := d.stream(ctx, l, out, r.Offset+r.Length)
		if unsafe := out.save(); unsafe != nil {
			return unsafe
		}
		if err == nil {
			return nil
		}
		if out.at-before >= progressed {
			again.forget()
		}
		if err := again.wait(ctx, err); err != nil {
			return err
		}
	}
}

// stream makes one request for the rest of a range.
func (d *download) stream(ctx context.Context, l store.Layer, out *sink, end int64) error {
	ctx, guard := watch(ctx, d.config.Stall)
	defer guard.stop()
	header := http.Header{}
	if out.at > 0 || end < l.Size {
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", out.at, end-1))
	}
	resp, err := d.get(ctx, blobs, l.Digest.String(), header)
	if err != nil {
		return cause(ctx, err)
	}
	defer resp.Body.Close()
	begins, err := position(resp, l, out.at)
	if err != nil {
		return err
	}
	body := &watched{resp.Body, guard}
	if _, err := io.CopyN(io.Discard, body, out.at-begins); err != nil {
		return cause(ctx, err)
	}
	_, err = io.CopyBuffer(out, io.LimitReader(body, end-out.at), make([]byte, copyBuffer))
	if err == nil && out.at < end {
		err = io.ErrUnexpectedEOF
	}
	return cause(ctx, err)
}

// position is the offset in the blob at which a reply starts: the requested one,
// or 0 from a server without range support.
func position(resp *http.Response, l store.Layer, offset int64) (int64, error) {
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return 0, fmt.Errorf("%w: %s has the unrequested content encoding %.20q", errMismatch, l.Digest, e)
	}
	if resp.StatusCode != http.StatusPartialContent {
		if resp.ContentLength >= 0 && resp.ContentLength != l.Size {
			return 0, fmt.Errorf("%w: %s has %d bytes, but %d in the manifest", errMismatch, l.Digest, resp.ContentLength, l.Size)
		}
		return 0, nil
	}
	text := resp.Header.Get("Content-Range")
	var from, to, size int64
	if _, err := fmt.Sscanf(text, "bytes %d-%d/%d", &from, &to, &size); err != nil {
		size = l.Size // the size is optional
		if _, err := fmt.Sscanf(text, "bytes %d-%d/*", &from, &to); err != nil {
			return 0, fmt.Errorf("%w: invalid Content-Range %.50q of %s", errMismatch, text, l.Digest)
		}
	}
	switch {
	case size != l.Size:
		return 0, fmt.Errorf("%w: %s has %d bytes, but %d in the manifest", errMismatch, l.Digest, size, l.Size)
	case from != offset:
		return 0, fmt.Errorf("%w: it sends %s from offset %d instead of %d", errMismatch, l.Digest, from, offset)
	}
	return from, nil
}

// sink writes a stream into a partial blob.
type sink struct {
	partial *store.Partial
	bar     *meter
	at      int64 // offset of the next byte
	safe    int64 // offset up to which all is durable
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.partial.WriteAt(p, s.at)
	s.at += int64(n)
	s.bar.moved(int64(n))
	if err != nil {
		return n, local(err)
	}
	if s.at-s.safe >= checkpoint {
		err = s.save()
	}
	return n, err
}

// save makes what was written durable.
func (s *sink) save() error {
	if s.at == s.safe {
		return nil
	}
	if err := s.partial.Done(store.Range{Offset: s.safe, Length: s.at - s.safe}); err != nil {
		return local(err)
	}
	s.safe = s.at
	return nil
}

// watched reports reads to a watchdog.
type watched struct {
	io.Reader
	guard *watchdog
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.guard.saw(n)
	return n, err
}
