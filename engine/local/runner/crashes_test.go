package runner

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestCrashDelay(t *testing.T) {
	for _, tt := range []struct {
		crashes int
		want    time.Duration
	}{
		{0, 0}, {2, 0}, {3, time.Second}, {4, 2 * time.Second}, {7, 16 * time.Second}, {8, 30 * time.Second}, {1000, 30 * time.Second},
	} {
		if got := crashDelay(tt.crashes, maxLoadDelay); got != tt.want {
			t.Errorf("after %d crashes: %v, want %v", tt.crashes, got, tt.want)
		}
		if got := crashDelay(tt.crashes, maxDelay); got != min(tt.want, maxDelay) {
			t.Errorf("after %d crashes of loaded models: %v, want %v", tt.crashes, got, min(tt.want, maxDelay))
		}
	}
}

// TestBlame: which request is the cause and for how long it is refused.
func TestBlame(t *testing.T) {
	type crash struct {
		after         time.Duration
		alone, proven bool
		want          time.Duration // of refusal; 0: only a suspect
	}
	for _, tt := range []struct {
		name    string
		crashes []crash
	}{
		{"alone", []crash{{0, true, true, time.Minute}}},
		{"alone again and again", []crash{{0, true, true, time.Minute}, {2 * time.Minute, true, true, 2 * time.Minute}, {3 * time.Minute, true, true, 4 * time.Minute}}},
		{"killed from outside", []crash{{0, true, false, 0}}},
		{"killed from outside twice", []crash{{0, true, false, 0}, {time.Second, true, false, time.Minute}}},
		{"beside others, then killed from outside", []crash{{0, false, false, 0}, {time.Second, true, false, time.Minute}}},
		{"always beside others", []crash{{0, false, false, 0}, {time.Second, false, false, 0}, {time.Second, false, false, time.Minute}}},
		{"long ago", []crash{{0, false, false, 0}, {2 * time.Hour, true, false, 0}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c crashLog
				for i, crash := range tt.crashes {
					time.Sleep(crash.after)
					cause := c.record(requestKey(1), crash.alone, crash.proven)
					_, refused := c.lookup(requestKey(1))
					if cause != (crash.want > 0) || refused != crash.want {
						t.Errorf("crash %d: cause %t, refused for %v, want %v", i, cause, refused, crash.want)
					}
				}
				time.Sleep(crashMemory)
				if crashes, refused := c.lookup(requestKey(1)); crashes > 0 && refused > 0 {
					t.Errorf("refused for ever")
				}
				if crashes, _ := c.lookup(requestKey(2)); crashes > 0 {
					t.Errorf("another request has %d crashes", crashes)
				}
			})
		})
	}
}

// TestCrashLogIsBounded: the log keeps the newest records when ever new requests crash
// processes.
func TestCrashLogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crashLog
		key := func(i int) requestKey { return requestKey(i) }
		for i := range maxCrashMemory + 10 {
			time.Sleep(time.Millisecond)
			c.record(key(i), true, true)
		}
		if len(c.seen) != maxCrashMemory {
			t.Errorf("%d requests are remembered, want %d", len(c.seen), maxCrashMemory)
		}
		for i, want := range map[int]int{9: 0, 10: 1, maxCrashMemory + 9: 1} {
			if got, _ := c.lookup(key(i)); got != want {
				t.Errorf("request %d: %d crashes, want %d", i, got, want)
			}
		}
	})
}

// rider is a request that waits for admission in a goroutine.
func rider(ctx context.Context, turns *admission, req any) (entered chan *job) {
	entered = make(chan *job, 1)
	go func() {
		if f, err := turns.enter(ctx, "m", req); err == nil {
			entered <- f
		}
	}()
	return entered
}

// got is the admitted job, or nil.
func got(entered chan *job) *job {
	synctest.Wait()
	select {
	case f := <-entered:
		return f
	default:
		return nil
	}
}

// crashWith simulates the exit of a process while requests run.
func crashWith(turns *admission, requests ...any) {
	turns.log.recordCrash()
	for _, req := range requests {
		turns.log.record(keyOf(turns.seed, req), false, false)
	}
}

func TestNoCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newAdmission()
		for i := range 3 {
			if got(rider(t.Context(), turns, i)) == nil {
				t.Errorf("request %d waits", i)
			}
		}
	})
}

func TestSuspectRunsAloneUntilItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newAdmission()
		crashWith(turns, "a", "b")
		first := got(rider(t.Context(), turns, "other"))
		suspect := rider(t.Context(), turns, "a")
		if got(suspect) != nil {
			t.Fatal("a suspect runs beside another request")
		}
		behind := rider(t.Context(), turns, "new")
		if got(behind) != nil {
			t.Fatal("a request goes before the suspect")
		}
		first.finish()
		a := got(suspect)
		if a == nil || got(behind) != nil {
			t.Fatal("the suspect does not run, or not alone")
		}
		a.outputBegan()
		next := got(behind)
		if next == nil {
			t.Fatal("nobody runs beside a suspect that is answered")
		}
		a.answered = true
		a.finish()
		next.finish()
		if crashes, _ := turns.log.lookup(a.key); crashes > 0 {
			t.Error("an answered request is still a suspect")
		}
	})
}

func TestSuspectOfTwoRunsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newAdmission()
		crashWith(turns, "a", "b")
		crashWith(turns, "a", "c")
		a := got(rider(t.Context(), turns, "a"))
		a.outputBegan()
		behind := rider(t.Context(), turns, "new")
		if got(behind) != nil {
			t.Error("another request runs beside it")
		}
		a.finish()
		if f := got(behind); f != nil {
			f.finish()
		}
	})
}

func TestOneByOneWhileProcessesEndOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newAdmission()
		for i := range manyCrashes {
			crashWith(turns, fmt.Sprint("bad ", i))
		}
		first := got(rider(t.Context(), turns, "x"))
		first.outputBegan()
		second := rider(t.Context(), turns, "y")
		if got(second) != nil {
			t.Fatal("two requests run")
		}
		first.finish()
		got(second).finish()
		time.Sleep(crashWindow + time.Second)
		if f1, f2 := got(rider(t.Context(), turns, "x")), got(rider(t.Context(), turns, "y")); f1 == nil || f2 == nil {
			t.Error("requests still wait for each other")
		}
	})
}

func TestClientLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newAdmission()
		crashWith(turns, "a")
		first := got(rider(t.Context(), turns, "x"))
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := turns.enter(ctx, "m", "a")
			failed <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if got(rider(t.Context(), turns, "y")) == nil {
			t.Error("the others still wait for it")
		}
		first.finish()
	})
}

// TestSameRequestsAreOneSuspect: equal requests count as one suspect of a crash.
func TestSameRequestsAreOneSuspect(t *testing.T) {
	turns := newAdmission()
	p := newInFlight()
	for range maxSuspected + 1 {
		f := &job{admission: turns, req: "same"}
		p.add(f)
		p.delivered(f)
	}
	p.blame(false)
	if crashes, refused := turns.log.lookup(keyOf(turns.seed, "same")); crashes != 1 || refused != 0 {
		t.Errorf("suspect of %d crashes and refused for %v, want 1 and not", crashes, refused)
	}
}

// TestSuspects: a canceled request stays a suspect for a while.
func TestSuspects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newAdmission()
		names := map[*job]any{}
		in := func(req any) *job {
			f := &job{admission: turns, req: req}
			names[f] = req
			return f
		}
		p := newInFlight()
		stays, left, answered, early, never, late := in("stays"), in("left"), in("answered"), in("early"), in("never"), in("late")
		for _, f := range []*job{stays, left, answered, early, never, late} {
			p.add(f)
		}
		for _, f := range []*job{stays, left, answered, early} {
			p.delivered(f)
		}
		p.remove(early)
		time.Sleep(cancelGrace + time.Second)
		answered.answered = true
		p.remove(answered)
		p.remove(left)
		if left.req != nil {
			t.Error("a request whose client has left is kept, with all of its images")
		}
		go func() { // its reply is still in the socket buffer after the exit
			time.Sleep(time.Millisecond)
			p.delivered(late)
			p.remove(never)
		}()
		p.blame(true)
		p.blame(true) // counts once
		for f, want := range map[*job]int{stays: 1, left: 1, answered: 0, early: 0, never: 0, late: 1} {
			if got, _ := turns.log.lookup(keyOf(turns.seed, names[f])); got != want || f.isCause() {
				t.Errorf("%v: suspect of %d crashes, want %d; cause: %t", names[f], got, want, f.isCause())
			}
		}
	})
}
