package runner

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
)

// TestOthersDoNotWaitForASuspect has a suspect come while an answer runs that
// takes as long as it says, and another request each second: how long they wait.
func TestOthersDoNotWaitForASuspect(t *testing.T) {
	for _, tt := range []struct {
		name     string
		suspects int
		running  time.Duration
		want     time.Duration // that one of the others waits at most
		fails    bool          // the suspects do
	}{
		{"one, and a short answer", 1, 5 * time.Second, 5 * time.Second, false},
		{"one, and a longer answer", 1, 25 * time.Second, longestHold, false},
		{"one, and an answer without end", 1, time.Hour, longestHold, true},
		{"many, and a longer answer", 20, 25 * time.Second, longestHold, false},
		{"many, and an answer without end", 20, time.Hour, longestHold, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { othersOfSuspects(t, tt.suspects, tt.running, tt.want, tt.fails) })
		})
	}
}

func othersOfSuspects(t *testing.T, suspects int, running, want time.Duration, fails bool) {
	turns := newTurns()
	for i := range suspects {
		crashWith(turns, i)
	}
	time.Sleep(crashWindow + time.Second) // processes do not end often
	first := got(rider(t.Context(), turns, "first"))
	time.AfterFunc(running, first.leave)
	failures := make(chan *engine.Error, suspects)
	for i := range suspects {
		time.Sleep(300 * time.Millisecond)
		go func() {
			f, err := turns.enter(t.Context(), "m", i)
			if err == nil {
				f.leave()
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
				f.leave()
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

// TestSameRequestWaits: many who ask the same, which ends processes, wait for
// their turn; once one of them has shown it, the others are refused.
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
				turns := newTurns()
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
				first.leave()
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

// TestSuspectIsGivenUp: its client does not wait any more.
func TestSuspectIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns()
		crashWith(turns, "a")
		got(rider(t.Context(), turns, "x"))
		ctx, cancel := context.WithTimeout(t.Context(), longestHold+time.Second) // while others may go before
		defer cancel()
		if _, err := turns.enter(ctx, "m", "a"); err == nil || err.Code == engine.CodeOverloaded {
			t.Errorf("error %v, want that of the context", err)
		}
		if got(rider(t.Context(), turns, "y")) == nil {
			t.Error("the others wait for it still")
		}
	})
}

// TestAloneHasAnEnd has a request that runs alone, for a reason, and answers for
// an hour: how long another one waits that came with it.
func TestAloneHasAnEnd(t *testing.T) {
	crash := func(requests ...any) func(*turns) { return func(turns *turns) { crashWith(turns, requests...) } }
	often := func(turns *turns) {
		for i := range manyCrashes {
			crashWith(turns, i)
		}
	}
	for _, tt := range []struct {
		name  string
		crash []func(*turns)
		begun bool
		want  time.Duration
	}{
		{"no reason", nil, false, 0},
		{"a suspect that begins", []func(*turns){crash("a")}, true, 0},
		{"a suspect that does not begin", []func(*turns){crash("a")}, false, longestAlone},
		{"a suspect of two", []func(*turns){crash("a", "b"), crash("a", "b")}, true, longestAlone},
		{"processes end often", []func(*turns){often}, true, crashWindow},
		{"a suspect, and processes end often", []func(*turns){often, crash("a")}, true, crashWindow},
		{"a suspect that does not begin, and processes end often", []func(*turns){often, crash("a")}, false, longestAlone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turns := newTurns()
				for _, crash := range tt.crash {
					crash(turns)
				}
				first := got(rider(t.Context(), turns, "a"))
				if tt.begun {
					first.begun()
				}
				others := []chan *flight{rider(t.Context(), turns, "x"), rider(t.Context(), turns, "y")}
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
					f.leave()
				}
				first.leave()
				if !turns.open.TryAcquire(allTurns) {
					t.Error("turns are not given back")
				}
			})
		})
	}
}
