package registry_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine/models/registry"
	"github.com/diglot/diglot/engine/models/store"
)

// TestFaultsThatPass has a pull meet what goes wrong on a network and with
// busy servers. It succeeds all the same.
func TestFaultsThatPass(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	m := publish(t, f, "a/model")
	blob := weights(m).Digest.String()
	for _, tt := range []struct {
		name   string
		fault  fault
		change func(*registry.Config)
	}{
		{"cuts in the middle of ranges", onBlob(blob, times(9, cut(chunk/2))), nil},
		{"cuts at once", onBlob(blob, times(3, cut(0))), nil},
		{"cuts of everything", times(2, cut(10)), nil},
		{"no ranges", onBlob(blob, noRanges), nil},
		{"no ranges, and cuts", onBlob(blob, times(3, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			noRanges(&limited{ResponseWriter: w, left: 5 * chunk, then: func() { panic(http.ErrAbortHandler) }}, r, next) // net/http cuts the connection for it
		})), func(c *registry.Config) { c.Tries = 9 }},
		{"ranges now and then", onBlob(blob, cutAfterRequests(3, noRanges)), nil},
		{"silence in the middle", onBlob(blob, times(4, silence(chunk/2))), shortStall},
		{"silence at once", onBlob(blob, times(2, silence(0))), shortStall},
		{"a byte now and then", onBlob(blob, times(2, drip)), shortStall},
		{"busy", times(2, status(http.StatusTooManyRequests, "slow down", "Retry-After", "0")), nil},
		{"failed with 500", times(2, status(http.StatusServiceUnavailable, "<html>")), nil},
		{"a gateway", onBlob(blob, times(5, status(http.StatusBadGateway, ""))), nil},
		{"a redirect to itself", onBlob(blob, times(3, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			http.Redirect(w, r, "//"+r.Host+r.URL.Path, http.StatusFound)
		})), nil},
		{"one connection", nil, func(c *registry.Config) { c.Connections = 1 }},
		{"no length", onBlob(blob, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			noRanges(&unsized{ResponseWriter: w}, r, next)
		}), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.use(tt.fault)
			s := newStore(t)
			bar := newTape(t)
			if _, err := newClient(t, tt.change).Pull(t.Context(), s, m.Name, bar.note); err != nil {
				t.Fatal(err)
			}
			expectSame(t, s, m)
			bar.expectEnd(m, registry.StatusDone)
		})
	}
}

// shortStall is for servers that fall silent. It is longer than a busy
// machine takes for a reply.
func shortStall(c *registry.Config) { c.Stall = 400 * time.Millisecond }

// drip sends the blob a byte at a time, for as long as somebody listens.
func drip(w http.ResponseWriter, r *http.Request, registry http.Handler) {
	registry.ServeHTTP(&slow{w, r}, r)
}

type slow struct {
	http.ResponseWriter
	r *http.Request
}

func (s *slow) Write(p []byte) (int, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i := range p {
		select {
		case <-tick.C:
		case <-s.r.Context().Done():
			panic(http.ErrAbortHandler) // net/http cuts the connection for it
		}
		s.ResponseWriter.Write(p[i : i+1])
		http.NewResponseController(s.ResponseWriter).Flush()
	}
	return len(p), nil
}

// unsized hides how long a body is.
type unsized struct{ http.ResponseWriter }

func (u *unsized) WriteHeader(code int) {
	u.Header().Del("Content-Length")
	u.ResponseWriter.WriteHeader(code)
	http.NewResponseController(u.ResponseWriter).Flush()
}

// TestFaultsThatStay are those that end a pull. Nothing is there after, and
// without the fault the next pull succeeds.
func TestFaultsThatStay(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	m := publish(t, f, "a/model")
	blob := weights(m).Digest.String()
	few := func(c *registry.Config) { c.Tries = 3 }
	for _, tt := range []struct {
		name   string
		fault  fault
		change func(*registry.Config)
		is     error
		say    []string
	}{
		{"wrong bytes", onBlob(blob, flipped), few, store.ErrDigest, []string{f.host, blob, "pull again"}},
		{"a wrong small layer", onBlob(m.Manifest.Layers[1].Digest.String(), flipped), few, store.ErrDigest, []string{m.Manifest.Layers[1].Digest.String()}},
		{"cuts", onBlob(blob, cut(100)), few, nil, []string{f.host, "closed the connection", "what has arrived is kept"}},
		{"silence", onBlob(blob, silence(100)), func(c *registry.Config) { few(c); shortStall(c) }, nil, []string{f.host, "stalled"}},
		{"a slow manifest", func(w http.ResponseWriter, r *http.Request, next http.Handler) { drip(w, r, next) },
			func(c *registry.Config) { few(c); c.Answer = 400 * time.Millisecond }, nil, []string{f.host, "does not answer in time"}},
		{"trouble", onBlob(blob, status(http.StatusInternalServerError, `{"errors":[{"code":"UNKNOWN","message":"disk \u001b[31mfull"}]}`)), few, nil,
			[]string{f.host, "failed with 500", "500", "disk [31mfull"}},
		{"too busy", status(http.StatusTooManyRequests, "buy more"), few, nil, []string{f.host, "limits the rate of requests", "buy more"}},
		{"the blob is gone", onBlob(blob, status(http.StatusNotFound, "")), few, nil, []string{f.host + " misses a blob", blob}},
		{"a larger blob", onBlob(blob, sized(large+1)), few, nil, []string{"contradicts itself", strconv.Itoa(large + 1), strconv.Itoa(large)}},
		{"a smaller blob", onBlob(blob, sized(large-1)), few, nil, []string{"contradicts itself", strconv.Itoa(large - 1)}},
		{"a length that does not come", onBlob(m.Manifest.Config.Digest.String(), func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Length", strconv.FormatInt(m.Manifest.Config.Size, 10))
			w.Write([]byte("{"))
		}), few, nil, []string{"closed the connection"}},
		{"another range", onBlob(blob, span(fmt.Sprintf("bytes 5-9/%d", large))), few, nil, []string{"contradicts itself", "from offset 5"}},
		{"a range of another size", onBlob(blob, span("bytes 0-0/12345")), few, nil, []string{"contradicts itself", "12345"}},
		{"a range of no form", onBlob(blob, span("all of it")), few, nil, []string{"contradicts itself", "all of it"}},
		{"packed", onBlob(blob, status(http.StatusOK, "x", "Content-Encoding", "gzip")), few, nil, []string{"contradicts itself", "gzip"}},
		{"redirects without end", onBlob(blob, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}), few, nil, []string{f.host, "redirected 10 times"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.use(tt.fault)
			s := newStore(t)
			_, err := newClient(t, tt.change).Pull(t.Context(), s, m.Name, nil)
			expectText(t, err, tt.say...)
			var ours *registry.Error
			if !errors.As(err, &ours) {
				t.Errorf("the error is a %T", err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("the error %v is not %v", err, tt.is)
			}
			expectNothing(t, s)
			if tt.name == "wrong bytes" {
				if left := total(missing(t, s, weights(m))); left != large {
					t.Errorf("%d bytes of a blob with a wrong digest are kept", large-left)
				}
			}
			f.use(nil)
			if _, err := newClient(t, nil).Pull(t.Context(), s, m.Name, nil); err != nil {
				t.Fatal(err)
			}
			expectSame(t, s, m)
		})
	}
}

// sized is a blob of another size.
func sized(size int) fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(make([]byte, size)))
	}
}

// span answers with a header Content-Range.
func span(text string) fault {
	return status(http.StatusPartialContent, "12345", "Content-Range", text)
}

// TestCutsCostLittle checks that after cuts only what is missing is asked
// for: no request begins where an earlier one did.
func TestCutsCostLittle(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	m := publish(t, f, "a/model")
	s := newStore(t)
	f.use(onBlob(weights(m).Digest.String(), cutAfterRequests(1, times(12, cut(chunk/2)))))
	if _, err := newClient(t, nil).Pull(t.Context(), s, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	expectSame(t, s, m)
	ranges := f.requests(func(r request) bool { return isDownload(r) && r.span != "" })
	if len(ranges) < 1+17+6 { // some of the cuts fall on the last byte of a range
		t.Errorf("there were few cuts: %v", ranges)
	}
	begun := map[string]bool{}
	for _, r := range ranges {
		begin, _, _ := strings.Cut(r.span, "-")
		if r.span == "bytes=0-0" {
			continue
		}
		if begun[begin] {
			t.Errorf("%s was asked for after %s...", r.span, begin)
		}
		begun[begin] = true
	}
}
