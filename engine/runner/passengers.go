package runner

import (
	"slices"
	"sync"
	"time"
)

// afterglow is how long a request whose client has left may still be computed
// upon, so that it may be what ends the process.
const afterglow = 10 * time.Second

// passengers are the requests in a process, as far as it has them.
type passengers struct {
	mu     sync.Mutex
	on     []*flight
	left   []departure // before they were answered
	judged sync.Once
}

type departure struct {
	flight *flight
	at     time.Time
}

func (p *passengers) board(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on = append(p.on, f)
}

// leave notes that a request has ended, whether it was answered or not.
func (p *passengers) leave(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.on, f) {
		return
	}
	p.on = slices.DeleteFunc(p.on, func(other *flight) bool { return other == f })
	now := time.Now()
	p.left = slices.DeleteFunc(p.left, func(d departure) bool { return now.Sub(d.at) > afterglow })
	if !f.answered {
		p.left = append(p.left, departure{f, now})
	}
}

// suspects are the requests that may have ended the process now.
func (p *passengers) suspects() []*flight {
	p.mu.Lock()
	defer p.mu.Unlock()
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
		for _, f := range suspects {
			f.blame(alone, alone && own)
		}
	})
}
