package runner

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
)

// TestOthersDoNotWaitForASuspect: a suspect waits for a long-running answer while
// another request comes each second, whose waiting time is bounded.
func TestOthersDoNotWaitForASuspect(t *testing.T) {
	for _, tt := range []struct {
		name     string
		suspects int
		running  time.Duration
		want     time.Duration // longest wait of the others
		fails    bool          // the suspects do
	}{
		{"one, and a short answer", 1, 5 * time.Second, 5 * time.Second, false},
		{"one, and a longer answer", 1, 25 * time.Second, maxHold, false},
		{"one, and an answer without end", 1, time.Hour, maxHold, true},
		{"many, and a longer answer", 20, 25 * time.Second, maxHold, false},
		{"many, and an answer without end", 20, time.Hour, maxHold, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { othersOfSuspects(t, tt.suspects, tt.running, tt.want, tt.fails) })
		})
	}
}

func othersOfSuspects(t *testing.T, suspects int, running, want time.Duration, fails bool) {
	turns := newAdmission()
	for i := range suspects {
		crashWith(turns, i)
	}
	time.Sleep(crashWindow + time.Second) // no crash loop
	first := got(rider(t.Context(), turns, "first"))
	time.AfterFunc(running, first.finish)
	failures := make(chan *engine.Error, suspects)
	for i := range suspects {
		time.Sleep(300 * time.Millisecond)
		go func() {
			f, err := turns.enter(t.Context(), "m", i)
			if err == nil {
				f.finish()
			}
			failures <- err
		}()
	}
	const others = 90
	waits := make(chan time.Duration, others)
	for range others {
		time.Sleep(time.Second)
		go func() {
			start := time.Now()
			f, err := turns.enter(t.Context(), "m", "other")
			if err == nil {
				f.finish()
			}
			waits <- time.Since(start)
		}()
	}
	longest, free := time.Duration(0), 0
	for range others {
		wait := <-waits
		longest = max(longest, wait)
		if wait == 0 {
			free++
		}
	}
	if longest > want || free < others/2 {
		t.Errorf("one of the others waits for %v, want %v at most; %d of %d do not wait", longest, want, free, others)
	}
	for i := range suspects {
		err := <-failures
		if (err != nil) != fails {
			t.Errorf("suspect %d: error %v", i, err)
		}
		if err != nil && (err.Code != engine.CodeOverloaded || err.RetryAfter == 0) {
			t.Errorf("suspect %d: %+v, want overloaded and a time", i, err)
		}
	}
	time.Sleep(running)
}

// TestSameRequestWaits: of equal requests that crash the process, one runs at a time;
// once one is the cause, the others are refused.
func TestSameRequestWaits(t *testing.T) {
	for _, tt := range []struct {
		name    string
		crashes int // before, of other requests
	}{
		{"as suspects", 0},
		{"one by one", manyCrashes},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turns := newAdmission()
				crashWith(turns, "bad")
				for i := range tt.crashes {
					crashWith(turns, i)
				}
				first := got(rider(t.Context(), turns, "bad"))
				failed := make(chan *engine.Error, 1)
				go func() {
					_, err := turns.enter(t.Context(), "m", "bad")
					failed <- err
				}()
				synctest.Wait()
				first.blame(true, true, map[requestKey]bool{})
				first.finish()
				if err := <-failed; err == nil || err.Code != engine.CodeEngineCrashed || !err.NoRetry {
					t.Errorf("error %v, want that it ended the process", err)
				}
				if f := got(rider(t.Context(), turns, "other")); f == nil {
					t.Error("the others wait for it still")
				}
			})
		})
	}
}

// TestSuspectIsGivenUp: a suspect is canceled while it waits.
func TestSuspectIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newAdmission()
		crashWith(turns, "a")
		got(rider(t.Context(), turns, "x"))
		ctx, cancel := context.WithTimeout(t.Context(), maxHold+time.Second) // while others may go first
		defer cancel()
		if _, err := turns.enter(ctx, "m", "a"); err == nil || err.Code == engine.CodeOverloaded {
			t.Errorf("error %v, want that of the context", err)
		}
		if got(rider(t.Context(), turns, "y")) == nil {
			t.Error("the others wait for it still")
		}
	})
}

// TestAloneHasAnEnd: a request that runs alone and answers for an hour holds up another
// one for a limited time.
func TestAloneHasAnEnd(t *testing.T) {
	crash := func(requests ...any) func(*admission) {
		return func(turns *admission) { crashWith(turns, requests...) }
	}
	often := func(turns *admission) {
		for i := range manyCrashes {
			crashWith(turns, i)
		}
	}
	for _, tt := range []struct {
		name  string
		crash []func(*admission)
		begun bool
		want  time.Duration
	}{
		{"no reason", nil, false, 0},
		{"a suspect that begins", []func(*admission){crash("a")}, true, 0},
		{"a suspect that does not begin", []func(*admission){crash("a")}, false, maxAlone},
		{"a suspect of two", []func(*admission){crash("a", "b"), crash("a", "b")}, true, maxAlone},
		{"processes end often", []func(*admission){often}, true, crashWindow},
		{"a suspect, and processes end often", []func(*admission){often, crash("a")}, true, crashWindow},
		{"a suspect that does not begin, and processes end often", []func(*admission){often, crash("a")}, false, maxAlone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turns := newAdmission()
				for _, crash := range tt.crash {
					crash(turns)
				}
				first := got(rider(t.Context(), turns, "a"))
				if tt.begun {
					first.outputBegan()
				}
				others := []chan *job{rider(t.Context(), turns, "x"), rider(t.Context(), turns, "y")}
				if tt.want > 0 {
					time.Sleep(tt.want - time.Millisecond)
					if got(others[0]) != nil || got(others[1]) != nil {
						t.Errorf("others run beside it before %v", tt.want)
					}
					time.Sleep(2 * time.Millisecond)
				}
				for i, other := range append(others, rider(t.Context(), turns, "z")) {
					f := got(other)
					if f == nil {
						t.Fatalf("request %d waits for longer than %v", i, tt.want)
					}
					f.finish()
				}
				first.finish()
				if !turns.permits.TryAcquire(allPermits) {
					t.Error("turns are not given back")
				}
			})
		})
	}
}
