package store

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
)

func begin(t *testing.T, s *Store) *Change {
	t.Helper()
	c, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func layerOf(content string) Layer {
	return Layer{MediaType: MediaTypeModel, Digest: digest.FromString(content), Size: int64(len(content))}
}

func partial(t *testing.T, c *Change, l Layer) *Partial {
	t.Helper()
	p, err := c.Partial(t.Context(), l)
	if p == nil || err != nil {
		t.Fatalf("no download: %v, %v", p, err)
	}
	return p
}

// fetch writes parts of the content and says that they are done.
func fetch(t *testing.T, p *Partial, content string, ranges ...Range) {
	t.Helper()
	for _, r := range ranges {
		if _, err := p.WriteAt([]byte(content[r.Offset:r.end()]), r.Offset); err != nil {
			t.Fatal(err)
		}
		if err := p.Done(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPartialContinues(t *testing.T) {
	const content = "0123456789"
	s := openTest(t, t.TempDir())
	c := begin(t, s)
	l := layerOf(content)

	p := partial(t, c, l)
	if diff := cmp.Diff([]Range{{0, 10}}, p.Missing()); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	fetch(t, p, content, Range{6, 2}, Range{1, 3}, Range{8, 2})
	if _, err := p.WriteAt([]byte("xx"), 4); err != nil { // and not said to be done
		t.Fatal(err)
	}
	want := []Range{{0, 1}, {4, 2}}
	if diff := cmp.Diff(want, p.Missing()); diff != "" {
		t.Errorf("after three parts (-want +got):\n%s", diff)
	}
	if err := p.Commit(); err == nil || !strings.Contains(err.Error(), "1 bytes at 0 are missing") {
		t.Errorf("what is not there can be kept: %v", err)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}

	p = partial(t, c, l)
	if diff := cmp.Diff(want, p.Missing()); diff != "" {
		t.Errorf("the second time (-want +got):\n%s", diff)
	}
	fetch(t, p, content, want...)
	if err := errors.Join(p.Commit(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if text, err := s.ReadBlob(l, 10); err != nil || string(text) != content {
		t.Errorf("the blob is %q, %v", text, err)
	}
	if p, err := c.Partial(t.Context(), l); p != nil || err != nil {
		t.Errorf("a blob that is there gives %v and %v", p, err)
	}
}

func TestPartialRefusesWhatIsOutside(t *testing.T) {
	p := partial(t, begin(t, openTest(t, t.TempDir())), layerOf("0123456789"))
	defer p.Close()
	for _, r := range []Range{{-1, 2}, {0, 11}, {11, 0}, {10, 1}, {5, 1 << 62}, {1 << 62, 1 << 62}, {0, -1}} {
		if err := p.Done(r); err == nil {
			t.Errorf("Done takes %v", r)
		}
	}
	for _, offset := range []int64{-1, 8, 11, 1 << 62} {
		if n, err := p.WriteAt([]byte("abc"), offset); err == nil || n != 0 {
			t.Errorf("WriteAt takes 3 bytes at %d: %d, %v", offset, n, err)
		}
	}
	if diff := cmp.Diff([]Range{{0, 10}}, p.Missing()); diff != "" {
		t.Errorf("something counts as done:\n%s", diff)
	}
}

func TestPartialOfWrongContentIsThrownAway(t *testing.T) {
	s := openTest(t, t.TempDir())
	c := begin(t, s)
	l := layerOf("0123456789")
	p := partial(t, c, l)
	fetch(t, p, "0123456780", Range{0, 10})
	if err := p.Commit(); !errors.Is(err, ErrDigest) || !strings.Contains(err.Error(), l.Digest.String()) {
		t.Errorf("the error is %v", err)
	}
	if s.has(l) == nil {
		t.Error("it is a blob all the same")
	}
	p = partial(t, c, l)
	defer p.Close()
	if diff := cmp.Diff([]Range{{0, 10}}, p.Missing()); diff != "" {
		t.Errorf("some of it is kept:\n%s", diff)
	}
}

func TestPartialOfNothing(t *testing.T) {
	s := openTest(t, t.TempDir())
	p := partial(t, begin(t, s), layerOf(""))
	if missing := p.Missing(); len(missing) != 0 {
		t.Errorf("%v is missing of no bytes", missing)
	}
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := s.has(layerOf("")); err != nil {
		t.Error(err)
	}
}

// TestPartialIsNotTrusted has files that are not what this download left.
func TestPartialIsNotTrusted(t *testing.T) {
	const content = "0123456789"
	for name, spoil := range map[string]func(p *Partial) error{
		"another size in the journal": func(p *Partial) error {
			text := sealLine("blob " + string(p.layer.Digest) + " 9")
			return os.WriteFile(p.base+journalEnding, append(text, sealLine("done 0 9")...), 0o644)
		},
		"another digest in the journal": func(p *Partial) error {
			text := sealLine("blob " + string(digest.FromString("other")) + " 10")
			return os.WriteFile(p.base+journalEnding, append(text, sealLine("done 0 10")...), 0o644)
		},
		"a journal without a head": func(p *Partial) error {
			return os.WriteFile(p.base+journalEnding, sealLine("done 0 10"), 0o644)
		},
		"no journal":  func(p *Partial) error { return os.Remove(p.base + journalEnding) },
		"cut data":    func(p *Partial) error { return os.Truncate(p.base+dataEnding, 9) },
		"longer data": func(p *Partial) error { return os.Truncate(p.base+dataEnding, 11) },
		"no data":     func(p *Partial) error { return os.Remove(p.base + dataEnding) },
	} {
		t.Run(name, func(t *testing.T) {
			c := begin(t, openTest(t, t.TempDir()))
			p := partial(t, c, layerOf(content))
			fetch(t, p, content, Range{0, 10})
			if err := errors.Join(p.Close(), spoil(p)); err != nil {
				t.Fatal(err)
			}
			p = partial(t, c, layerOf(content))
			defer p.Close()
			if diff := cmp.Diff([]Range{{0, 10}}, p.Missing()); diff != "" {
				t.Errorf("it is trusted (-want +got):\n%s", diff)
			}
			fetch(t, p, content, Range{0, 10})
			if err := p.Commit(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSecondDownloadWaits asks for a blob twice at once.
func TestSecondDownloadWaits(t *testing.T) {
	s := openTest(t, t.TempDir())
	c, other := begin(t, s), begin(t, s)
	synctest.Test(t, func(t *testing.T) {
		l := layerOf("0123456789")
		p := partial(t, c, l)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if p, err := other.Partial(ctx, l); p != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the second one has %v, %v", p, err)
		}

		var wait sync.WaitGroup
		wait.Go(func() {
			if p, err := other.Partial(t.Context(), l); p != nil || err != nil {
				t.Errorf("the second one has %v, %v, though the blob was there when it could begin", p, err)
			}
		})
		synctest.Wait()
		fetch(t, p, "0123456789", Range{0, 10})
		if err := p.Commit(); err != nil {
			t.Error(err)
		}
		wait.Wait()
	})
}

// TestCommitEndsWithItsContext keeps what was downloaded.
func TestCommitEndsWithItsContext(t *testing.T) {
	s := openTest(t, t.TempDir())
	c := begin(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := c.Partial(ctx, layerOf("0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	fetch(t, p, "0123456789", Range{0, 10})
	cancel()
	if err := p.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = partial(t, c, layerOf("0123456789"))
	if missing := p.Missing(); len(missing) != 0 {
		t.Errorf("%v is missing", missing)
	}
	if err := p.Commit(); err != nil {
		t.Error(err)
	}
}
