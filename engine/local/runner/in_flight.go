package runner

import (
	"slices"
	"sync"
	"time"
)

// cancelGrace is how long a canceled request may go on in the process and so may
// cause a crash.
const cancelGrace = 10 * time.Second

// inFlight tracks the requests in a process.
type inFlight struct {
	mu       sync.Mutex
	changed  sync.Cond
	sending  []*job // not known to be delivered
	active   []*job
	canceled []canceledJob
	judged   sync.Once
}

type canceledJob struct {
	job *job
	at  time.Time
}

func newInFlight() *inFlight {
	p := &inFlight{}
	p.changed.L = &p.mu
	return p
}

// add adds a request that is being sent.
func (p *inFlight) add(f *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending = append(p.sending, f)
}

// delivered records that the process has the request.
func (p *inFlight) delivered(f *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending = without(p.sending, f)
	p.active = append(p.active, f)
	p.changed.Broadcast()
}

// remove removes a request. One that was not answered stays a suspect for a while,
// if it was delivered.
func (p *inFlight) remove(f *job) {
	if !f.answered && p.has(f) {
		f.identify() // before locking, as it may be slow; drops the request
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending = without(p.sending, f)
	p.changed.Broadcast()
	if !slices.Contains(p.active, f) {
		return
	}
	p.active = without(p.active, f)
	now := time.Now()
	p.canceled = slices.DeleteFunc(p.canceled, func(d canceledJob) bool { return now.Sub(d.at) > cancelGrace })
	if !f.answered {
		p.canceled = append(p.canceled, canceledJob{f, now})
	}
}

// has reports whether the request was delivered.
func (p *inFlight) has(f *job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.active, f)
}

func without(all []*job, f *job) []*job {
	return slices.DeleteFunc(all, func(other *job) bool { return other == f })
}

// suspects returns the requests that may have caused the exit of the process. It
// waits for those that are being sent, which soon fail or were delivered.
func (p *inFlight) suspects() []*job {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.sending) > 0 {
		p.changed.Wait()
	}
	all := slices.Clone(p.active)
	now := time.Now()
	for _, d := range p.canceled {
		if now.Sub(d.at) <= cancelGrace {
			all = append(all, d.job)
		}
	}
	return all
}

// blame records the suspects of the process's exit, once. own: the process was not
// killed from outside.
func (p *inFlight) blame(own bool) {
	p.judged.Do(func() {
		suspects := p.suspects()
		if len(suspects) > 0 {
			suspects[0].admission.log.recordCrash()
		}
		alone := len(suspects) == 1
		causes := map[requestKey]bool{} // equal requests count once per crash
		for _, f := range suspects {
			f.blame(alone, alone && own, causes)
		}
	})
}
