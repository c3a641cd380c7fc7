package library

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
)

// inBubble runs a test on a clock of its own, over a house with three models
// of 1,000 bytes and a context of 1,000 tokens. There is room for two.
func inBubble(t *testing.T, c Config, test func(*testing.T, *house)) {
	t.Helper()
	c.Context = 1000
	if c.Budget == 0 {
		c.Budget = 5000
	}
	h := newHouse(t, c)
	for _, name := range []string{"a", "b", "c"} {
		h.create(t, name, name+"...", 1000, "")
	}
	synctest.Test(t, func(t *testing.T) {
		// Made anew in the bubble: its channels belong to it.
		h.Engine = New(h.Engine.config)
		test(t, h)
		_ = h.Close()
		if n := h.running(); n != 0 {
			t.Errorf("%d instances are left after the end", n)
		}
	})
}

// async asks for a model and returns where the error will be.
func (h *house) async(ctx context.Context, model string) <-chan error {
	result := make(chan error, 1)
	go func() {
		_, err := h.ask(ctx, model)
		result <- err
	}()
	synctest.Wait()
	return result
}

// isDone reports whether there is a result, which must not be an error.
func isDone(t *testing.T, result <-chan error) bool {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-result:
		if err != nil {
			t.Error(err)
		}
		return true
	default:
		return false
	}
}

func expect(t *testing.T, when string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", when, got, want)
	}
}

func TestKeepAlive(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		h.mustAsk(t, "a")
		expect(t, "until", h.Loaded()[0].Until, time.Now().Add(DefaultKeepAlive))
		time.Sleep(DefaultKeepAlive - time.Second)
		expect(t, "loaded shortly before the end", h.running(), 1)
		h.mustAsk(t, "a")
		time.Sleep(DefaultKeepAlive - time.Second)
		expect(t, "loaded after another request", h.running(), 1)
		finish := h.begin(t, "a")
		expect(t, "until, while it is used", h.Loaded()[0].Until, time.Time{})
		time.Sleep(10 * DefaultKeepAlive)
		expect(t, "loaded during a long request", h.running(), 1)
		finish()
		if err := h.Load(t.Context(), "b"); err != nil {
			t.Error(err)
		}
		time.Sleep(DefaultKeepAlive)
		synctest.Wait()
		expect(t, "loaded in the end", h.running(), 0)
		expect(t, "listed in the end", len(h.Loaded()), 0)
		expect(t, "started", h.started(), "a b")
	})
}

func TestKeepAliveForEver(t *testing.T) {
	inBubble(t, Config{KeepAlive: -1}, func(t *testing.T, h *house) {
		h.mustAsk(t, "a")
		time.Sleep(1000 * time.Hour)
		expect(t, "loaded", h.running(), 1)
		expect(t, "until", h.Loaded()[0].Until, time.Time{})
	})
}

func TestLeastRecentlyUsedGoes(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		for _, name := range []string{"a", "b", "a", "c"} {
			h.mustAsk(t, name)
			time.Sleep(time.Second)
		}
		expect(t, "started", h.started(), "a b c")
		h.mustAsk(t, "a")
		expect(t, "started after a was used", h.started(), "a b c")
		h.mustAsk(t, "b")
		expect(t, "started after b was used", h.started(), "a b c b")
		expect(t, "loaded", h.running(), 2)
	})
}

// TestLoadWaitsForRequests has both places in use: a third model waits for a
// request to end, and those who come later wait behind it.
func TestLoadWaitsForRequests(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		finishA := h.begin(t, "a")
		time.Sleep(time.Second)
		finishB := h.begin(t, "b")
		c := h.async(t.Context(), "c")
		expect(t, "c is answered while a and b run", isDone(t, c), false)
		again := h.async(t.Context(), "a")
		expect(t, "a is answered before c", isDone(t, again), false)
		b := h.async(t.Context(), "b")
		expect(t, "b, which need not go, is answered", isDone(t, b), true)
		finishA()
		expect(t, "c is answered once a has ended", isDone(t, c), true)
		expect(t, "a is answered in the place of c", isDone(t, again), true)
		finishB()
		expect(t, "started", h.started(), "a b c a")
	})
}

func TestWaitingIsGivenUp(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		finish := []func(){h.begin(t, "a"), h.begin(t, "b")}
		ctx, cancel := context.WithCancel(t.Context())
		c := h.async(ctx, "c")
		cancel()
		synctest.Wait()
		expect(t, "code", engine.AsError(<-c).Code, engine.CodeCanceled)
		for _, f := range finish {
			f()
		}
		expect(t, "c is answered to another client", isDone(t, h.async(t.Context(), "c")), true)
		expect(t, "started", h.started(), "a b c")
	})
}

func TestQueueIsBounded(t *testing.T) {
	inBubble(t, Config{Queue: 2}, func(t *testing.T, h *house) {
		finish := []func(){h.begin(t, "a")}
		time.Sleep(time.Second)
		finish = append(finish, h.begin(t, "b"))
		waiting := []<-chan error{h.async(t.Context(), "c"), h.async(t.Context(), "c")}
		err := engine.AsError(<-h.async(t.Context(), "c"))
		if err.Code != engine.CodeOverloaded || err.RetryAfter == 0 {
			t.Errorf("the third one that waits gets %v", err)
		}
		expect(t, "what is loaded is answered", isDone(t, h.async(t.Context(), "b")), true)
		for _, f := range finish {
			f()
		}
		for _, w := range waiting {
			expect(t, "those that wait are answered", isDone(t, w), true)
		}
	})
}

func TestWhatNeverFits(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		h.create(t, "large", "weights", 6000, "")
		h.mustAsk(t, "a")
		_, err := h.ask(t.Context(), "large")
		got := engine.AsError(err)
		if got.Code != engine.CodeUnsupported || !got.NoRetry || !strings.HasPrefix(got.Message, "The model needs 7.0 kB of memory") || !strings.Contains(got.Message, "5.0 kB are free") {
			t.Errorf("error %v", err)
		}
		expect(t, "loaded: nothing goes for it", h.running(), 1)
	})
}

// TestContextGivesWay loads models that would take all memory for context.
func TestContextGivesWay(t *testing.T) {
	inBubble(t, Config{Budget: 30_000}, func(t *testing.T, h *house) {
		h.Engine.config.Context = 0
		h.create(t, "small", "weights", 5000, `{"num_ctx": 5000}`)
		h.mustAsk(t, "small")
		time.Sleep(time.Second)
		h.mustAsk(t, "a")
		expect(t, "the context beside another", h.Loaded()[0].Context, 30_000-10_000-1000)
		expect(t, "loaded: both", h.running(), 2)
		time.Sleep(time.Second)
		h.mustAsk(t, "small")
		h.mustAsk(t, "b")
		expect(t, "loaded: a went for a good context of b", h.running(), 2)
		expect(t, "the name of the first", h.Loaded()[0].Name, "b")
		expect(t, "the launch has the context", h.launches[2].Context, 19_000)
	})
}

// TestAvailableMemory has other programs take what the budget allows.
func TestAvailableMemory(t *testing.T) {
	var h *house
	others := int64(0)
	available := func() (int64, error) { return 5000 - others - 2000*int64(h.running()), nil }
	inBubble(t, Config{Available: available}, func(t *testing.T, house *house) {
		h = house
		h.mustAsk(t, "a")
		others = 2500
		h.mustAsk(t, "b")
		expect(t, "loaded beside other programs", h.running(), 1)
		expect(t, "started", h.started(), "a b")
		others = 4500
		_, err := h.ask(t.Context(), "c")
		expect(t, "code without memory", engine.AsError(err).Code, engine.CodeUnsupported)
		expect(t, "loaded: nothing goes for it", h.running(), 1)
	})
}

// sparing is an instance that has not yet used all that its plan counts.
type sparing struct{ *puppet }

const spent = 500

func (sparing) MemoryUsed() (int64, bool) { return spent, true }

// untold is one of a system that does not tell.
type untold struct{ *puppet }

func (untold) MemoryUsed() (int64, bool) { return 0, false }

// TestUnusedMemory has two models of 2,000 bytes use 500 each: what is free is promised to
// them.
func TestUnusedMemory(t *testing.T) {
	var h *house
	available := func() (int64, error) { return 5000 - spent*int64(h.running()), nil }
	inBubble(t, Config{Available: available, Budget: 1 << 20}, func(t *testing.T, house *house) {
		h = house
		h.wrap = func(p *puppet) Instance { return sparing{p} }
		for _, name := range []string{"a", "b", "c"} {
			h.mustAsk(t, name)
		}
		expect(t, "started", h.started(), "a b c")
		expect(t, "loaded: a third would use what was promised", h.running(), 2)
	})
	inBubble(t, Config{Available: available, Budget: 1 << 20}, func(t *testing.T, house *house) {
		h = house
		h.wrap = func(p *puppet) Instance { return untold{p} }
		for _, name := range []string{"a", "b", "c"} {
			h.mustAsk(t, name)
		}
		expect(t, "loaded: what is free is all that is known", h.running(), 3)
	})
}

func TestMemoryIsNotKnown(t *testing.T) {
	unknown := func() (int64, error) { return 0, errors.New("no such file") }
	inBubble(t, Config{Available: unknown}, func(t *testing.T, h *house) {
		for _, name := range []string{"a", "b", "c"} {
			h.mustAsk(t, name)
		}
		expect(t, "loaded: what the budget allows", h.running(), 2)
	})
}

func TestModelMadeAnew(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		finish := h.begin(t, "a")
		h.create(t, "a", "new!", 1000, "")
		expect(t, "the answer of the new one", h.mustAsk(t, "a"), "new!")
		expect(t, "loaded: the old one has a request", h.running(), 2)
		finish()
		synctest.Wait()
		expect(t, "loaded: the new one", h.running(), 1)
		expect(t, "the answer of the new one", h.mustAsk(t, "a"), "new!")
	})
}

func TestModelRemoved(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		finish := h.begin(t, "a")
		h.mustAsk(t, "b")
		for _, name := range []string{"a", "b"} {
			if err := h.store.Remove(t.Context(), parse(t, name)); err != nil {
				t.Fatal(err)
			}
		}
		loaded := h.Loaded()
		synctest.Wait()
		expect(t, "listed: the one with a request", len(loaded) > 0 && loaded[0].Stopping, true)
		expect(t, "loaded: the one with a request", h.running(), 1)
		finish()
		synctest.Wait()
		expect(t, "loaded in the end", h.running(), 0)
		_, err := h.ask(t.Context(), "a")
		expect(t, "code", engine.AsError(err).Code, engine.CodeModelNotFound)
	})
}

func TestStop(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		for _, name := range []string{"a", "nope"} {
			idle := engine.AsError(h.Stop(t.Context(), name))
			expect(t, "code where it is not loaded", idle.Code, engine.CodeModelNotFound)
			expect(t, "message where it is not loaded", idle.Message, fmt.Sprintf("The model %q is not loaded.", name))
		}
		expect(t, "code of no name", engine.AsError(h.Stop(t.Context(), "../a")).Code, engine.CodeModelNotFound)
		h.mustAsk(t, "a")
		if err := h.Stop(t.Context(), "a:latest"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		expect(t, "loaded after an idle one was stopped", h.running(), 0)
		finish := h.begin(t, "a")
		for range 2 {
			if err := h.Stop(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		}
		expect(t, "loaded while a request runs", h.running(), 1)
		expect(t, "a new request is answered by a new one", h.mustAsk(t, "a"), "a...")
		expect(t, "loaded: both", h.running(), 2)
		finish()
		synctest.Wait()
		expect(t, "loaded: the new one", h.running(), 1)
	})
}

func TestStopWhileLoading(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		h.hold = make(chan struct{})
		a := h.async(t.Context(), "a")
		expect(t, "it is loading", h.Loaded()[0].Loading, true)
		if err := h.Stop(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		close(h.hold)
		expect(t, "the request is answered", isDone(t, a), true)
		expect(t, "loaded", h.running(), 0)
	})
}

func TestFailedLoad(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		h.failure = &engine.Error{Code: engine.CodeInternal, Message: "Broken.", NoRetry: true}
		for range 3 {
			_, err := h.ask(t.Context(), "a")
			expect(t, "message", engine.AsError(err).Message, "Broken.")
		}
		expect(t, "tried", h.started(), "a")
		expect(t, "listed", len(h.Loaded()), 0)
		time.Sleep(failureMemory)
		h.failure = engine.Errorf(engine.CodeEngineCrashed, "Crashed.")
		for range 2 {
			_, err := h.ask(t.Context(), "a")
			expect(t, "message", engine.AsError(err).Message, "Crashed.")
		}
		expect(t, "tried: a crash is remembered", h.started(), "a a")
		time.Sleep(failureMemory)
		h.failure = errors.New("/secret")
		_, err := h.ask(t.Context(), "b")
		expect(t, "message without paths", engine.AsError(err).Message, "Internal error.")
		h.failure = nil
		expect(t, "the answer", h.mustAsk(t, "a"), "a...")
	})
}

func TestOneLoadForAll(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		h.hold = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		gone := h.async(ctx, "a")
		var waiting []<-chan error
		for range 10 {
			waiting = append(waiting, h.async(t.Context(), "a"))
		}
		cancel()
		expect(t, "code of the one who left", engine.AsError(<-gone).Code, engine.CodeCanceled)
		close(h.hold)
		for _, w := range waiting {
			expect(t, "answered", isDone(t, w), true)
		}
		expect(t, "started", h.started(), "a")
	})
}

// TestLoadedForNobody has the only client leave while its model loads: it
// stays as if it had been used.
func TestLoadedForNobody(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		h.hold = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		gone := h.async(ctx, "a")
		cancel()
		<-gone
		close(h.hold)
		synctest.Wait()
		expect(t, "loaded", h.running(), 1)
		time.Sleep(DefaultKeepAlive)
		synctest.Wait()
		expect(t, "loaded later", h.running(), 0)
	})
}

func TestClose(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, h *house) {
		finish := h.begin(t, "a")
		r := h.residents()[0]
		h.hold = make(chan struct{})
		b := h.async(t.Context(), "b")
		c := h.async(t.Context(), "c")
		_ = h.Close()
		expect(t, "loaded", h.running(), 0)
		for _, result := range []<-chan error{b, c, h.async(t.Context(), "a")} {
			expect(t, "code", engine.AsError(<-result).Code, engine.CodeOverloaded)
		}
		finish()
		_ = h.Close()
		expect(t, "when the one that is gone goes", r.until, time.Time{})
	})
}
