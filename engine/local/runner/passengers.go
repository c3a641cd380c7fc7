package runner

import (
	"slices"
	"sync"
	"time"
)

// afterglow is how long a request whose client has left may still be computed
// upon, so that it may be what ends the process.
const afterglow = 10 * time.Second

// passengers are the requests in a process.
type passengers struct {
	mu       sync.Mutex
	changed  sync.Cond
	boarding []*flight // sent, and it is not known whether they arrived
	on       []*flight
	left     []departure // before they were answered
	judged   sync.Once
}

type departure struct {
	flight *flight
	at     time.Time
}

func newPassengers() *passengers {
	p := &passengers{}
	p.changed.L = &p.mu
	return p
}

// board notes that a request is being sent.
func (p *passengers) board(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.boarding = append(p.boarding, f)
}

// arrive notes that the process has it.
func (p *passengers) arrive(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.boarding = without(p.boarding, f)
	p.on = append(p.on, f)
	p.changed.Broadcast()
}

// leave notes that a request has ended, whether it was answered or not. One
// that did not arrive is no suspect.
func (p *passengers) leave(f *flight) {
	if !f.answered && p.has(f) {
		f.identify() // which may take a while, and lets go of the request
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.boarding = without(p.boarding, f)
	p.changed.Broadcast()
	if !slices.Contains(p.on, f) {
		return
	}
	p.on = without(p.on, f)
	now := time.Now()
	p.left = slices.DeleteFunc(p.left, func(d departure) bool { return now.Sub(d.at) > afterglow })
	if !f.answered {
		p.left = append(p.left, departure{f, now})
	}
}

// has reports whether the process has the request.
func (p *passengers) has(f *flight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.on, f)
}

func without(all []*flight, f *flight) []*flight {
	return slices.DeleteFunc(all, func(other *flight) bool { return other == f })
}

// suspects are the requests that may have ended the process, which is gone:
// what is still being sent will soon know that.
func (p *passengers) suspects() []*flight {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.boarding) > 0 {
		p.changed.Wait()
	}
	all := slices.Clone(p.on)
	now := time.Now()
	for _, d := range p.left {
		if now.Sub(d.at) <= afterglow {
			all = append(all, d.flight)
		}
	}
	return all
}

// judge blames the requests that were in a process when it ended, once. own
// says that nobody else ended it.
func (p *passengers) judge(own bool) {
	p.judged.Do(func() {
		suspects := p.suspects()
		if len(suspects) > 0 {
			suspects[0].turns.log.crashed()
		}
		alone := len(suspects) == 1
		causes := map[requestKey]bool{} // one crash counts once, though the same request ran twice
		for _, f := range suspects {
			f.blame(alone, alone && own, causes)
		}
	})
}
