package registry_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine/models/registry"
	"github.com/diglot/diglot/engine/models/store"
)

// TestPullOfANameThatCannotBe is refused before anything is asked for.
func TestPullOfANameThatCannotBe(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	s := newStore(t)
	create(t, s, parse(t, f.host+"/some/Model:Q4"), 10)
	for _, name := range []string{"/some/model:Q4", "/some/Model:q4", "/some/Model/Q4:x"} {
		_, err := newClient(t, nil).Pull(t.Context(), s, parse(t, f.host+name), nil)
		expectText(t, err, "model "+f.host+"/some/Model:Q4: use")
	}
	if asked := f.requests(func(r request) bool { return strings.Contains(r.path, "/some/") }); len(asked) > 0 {
		t.Errorf("the registry was asked %v", asked)
	}
}

func TestPushAndPull(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	from, to := newStore(t), newStore(t)
	want := create(t, from, parse(t, f.host+"/some/where/model:Q4_K_M"), large)
	client := newClient(t, nil)

	pushed := newTape(t)
	if err := client.Push(t.Context(), from, want.Name, pushed.note); err != nil {
		t.Fatal(err)
	}
	pushed.expectEnd(want, registry.StatusDone)

	pulled := newTape(t)
	got, err := client.Pull(t.Context(), to, want.Name, pulled.note)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != want.Digest {
		t.Errorf("the digest is %s, want %s", got.Digest, want.Digest)
	}
	expectSame(t, to, want)
	expectNoRest(t, to)
	pulled.expectEnd(want, registry.StatusDone)
	ranges := f.requests(func(r request) bool { return isDownload(r) && r.span != "" })
	if len(ranges) != 18 { // a probe and 17 chunks
		t.Errorf("there were %d requests for ranges: %v", len(ranges), ranges)
	}

	f.use(nil)
	again := newTape(t)
	if _, err := client.Pull(t.Context(), to, want.Name, again.note); err != nil {
		t.Fatal(err)
	}
	again.expectEnd(want, registry.StatusPresent)
	asked := fmt.Sprint(f.requests(func(request) bool { return true }))
	if asked != "[GET /v2/some/where/model/manifests/Q4_K_M]" {
		t.Errorf("a model that did not change was pulled by %s", asked)
	}

	f.use(nil)
	if err := client.Push(t.Context(), from, want.Name, again.note); err != nil {
		t.Fatal(err)
	}
	again.expectEnd(want, registry.StatusPresent)
	if sent := f.requests(func(r request) bool { return r.method == http.MethodPost }); len(sent) > 0 {
		t.Errorf("a model that did not change was pushed by %v", sent)
	}
}

func TestPullTakesTheNewModel(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	s := newStore(t)
	old := publish(t, f, "a/model")
	client := newClient(t, nil)
	if _, err := client.Pull(t.Context(), s, old.Name, nil); err != nil {
		t.Fatal(err)
	}
	from := newStore(t)
	changed := create(t, from, old.Name, large+1)
	if err := client.Push(t.Context(), from, old.Name, nil); err != nil {
		t.Fatal(err)
	}
	f.use(nil)
	if _, err := client.Pull(t.Context(), s, old.Name, nil); err != nil {
		t.Fatal(err)
	}
	expectSame(t, s, changed)
	for _, l := range old.Manifest.Layers[1:] {
		if again := f.requests(func(r request) bool { return strings.HasSuffix(r.path, l.Digest.String()) }); len(again) > 0 {
			t.Errorf("a layer that was there was fetched: %v", again)
		}
	}
}

func TestPullAtTheSameTime(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	m := publish(t, f, "a/model")
	s := newStore(t)
	client := newClient(t, nil)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := client.Pull(t.Context(), s, m.Name, nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	expectSame(t, s, m)
	first := f.requests(func(r request) bool { return isDownload(r) && r.span == "bytes=0-65535" })
	if len(first) != 1 {
		t.Errorf("the first chunk was fetched %d times", len(first))
	}
}

// missing is what a store would still fetch of a layer.
func missing(t *testing.T, s *store.Store, l store.Layer) []store.Range {
	t.Helper()
	change, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer change.Close()
	p, err := change.Partial(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if p == nil {
		return nil
	}
	defer p.Close()
	return p.Missing()
}

// TestPullGoesOn cancels a pull in the middle, again and again.
func TestPullGoesOn(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	m := publish(t, f, "a/model")
	s := newStore(t)
	client := newClient(t, func(c *registry.Config) { c.Connections = 3 })
	for round := range 3 {
		before := missing(t, s, weights(m))
		f.use(onBlob(weights(m).Digest.String(), cutAfterRequests(4, cut(chunk/3))))
		ctx, cancel := context.WithCancel(t.Context())
		client := newClient(t, func(c *registry.Config) { c.Connections, c.Tries = 3, 1 })
		_, err := client.Pull(ctx, s, m.Name, nil)
		cancel()
		if err == nil {
			t.Fatal("the pull was not cut")
		}
		expectNothing(t, s)
		expectInside(t, f, before)
		after := missing(t, s, weights(m))
		if total(after) >= total(before) {
			t.Errorf("round %d: %v were missing before, and %v after", round, before, after)
		}
	}
	before := missing(t, s, weights(m))
	f.use(nil)
	bar := newTape(t)
	if _, err := client.Pull(t.Context(), s, m.Name, bar.note); err != nil {
		t.Fatal(err)
	}
	expectSame(t, s, m)
	expectInside(t, f, before)
	if got, want := bar.last[weights(m).Digest].Resumed, weights(m).Size-total(before); got != want {
		t.Errorf("%d bytes were resumed, want %d", got, want)
	}
}

// leave makes parts of a layer be there, as a pull that was cut does.
func leave(t *testing.T, s *store.Store, l store.Layer, content []byte, parts ...store.Range) {
	t.Helper()
	change, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer change.Close()
	p, err := change.Partial(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, r := range parts {
		if _, err := p.WriteAt(content[r.Offset:r.Offset+r.Length], r.Offset); err != nil {
			t.Fatal(err)
		}
		if err := p.Done(r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPullGoesOnWithoutRanges has a server that served ranges at first.
func TestPullGoesOnWithoutRanges(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	m := publish(t, f, "a/model")
	s := newStore(t)
	leave(t, s, weights(m), noise(1, large), store.Range{Offset: 0, Length: chunk}, store.Range{Offset: 9 * chunk, Length: 3 * chunk})
	f.use(onBlob(weights(m).Digest.String(), noRanges))
	bar := newTape(t)
	if _, err := newClient(t, nil).Pull(t.Context(), s, m.Name, bar.note); err != nil {
		t.Fatal(err)
	}
	expectSame(t, s, m)
	bar.expectEnd(m, registry.StatusDone)
	if got := bar.last[weights(m).Digest].Resumed; got != chunk {
		t.Errorf("%d bytes were resumed, and %d were there before the first gap", got, chunk)
	}
}

// TestPullStopsAtOnce cancels while nothing arrives.
func TestPullStopsAtOnce(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	m := publish(t, f, "a/model")
	s := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.use(onBlob(weights(m).Digest.String(), cutAfterRequests(6, func(w http.ResponseWriter, r *http.Request, registry http.Handler) {
		cancel()
		silence(1000)(w, r, registry)
	})))
	client := newClient(t, func(c *registry.Config) { c.Connections = 2 })
	_, err := client.Pull(ctx, s, m.Name, nil)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	expectNothing(t, s)
	before := missing(t, s, weights(m))
	if total(before) == 0 || total(before) > weights(m).Size-4*chunk {
		t.Errorf("%v are missing", before)
	}
	f.use(nil)
	if _, err := client.Pull(t.Context(), s, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	expectSame(t, s, m)
	expectInside(t, f, before)
}

// cutAfterRequests applies a fault after n requests were answered.
func cutAfterRequests(n int, then fault) fault {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request, registry http.Handler) {
		mu.Lock()
		n--
		left := n
		mu.Unlock()
		if left >= 0 {
			registry.ServeHTTP(w, r)
			return
		}
		then(w, r, registry)
	}
}

func total(ranges []store.Range) int64 {
	n := int64(0)
	for _, r := range ranges {
		n += r.Length
	}
	return n
}

// expectInside checks that no byte was asked for that was not missing, the
// first one aside: by that servers are tried.
func expectInside(t *testing.T, f *front, missing []store.Range) {
	t.Helper()
	for _, r := range f.requests(func(r request) bool { return isDownload(r) && r.span != "" && r.span != "bytes=0-0" }) {
		var from, to int64
		if _, err := fmt.Sscanf(r.span, "bytes=%d-%d", &from, &to); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(missing, func(m store.Range) bool { return from >= m.Offset && to < m.Offset+m.Length }) {
			t.Errorf("%s was asked for, and only %v were missing", r.span, missing)
		}
	}
}

func TestLayersThatNobodyKnowsAreKept(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	m := publish(t, f, "a/model")
	s := newStore(t)
	if _, err := newClient(t, nil).Pull(t.Context(), s, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	got, err := s.ReadBlob(m.Manifest.Layers[2], 100)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("odd", string(got)); diff != "" || m.Manifest.Layers[2].MediaType != odd {
		t.Errorf("the odd layer differs: %s", diff)
	}
}
