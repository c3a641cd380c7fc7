package runner

import (
	"sync"
	"time"
)

// activity says for how long a client has been waiting in vain. Only the
// time that a request waits for its server counts: a reader who is slow to
// take events must not look like a server that hangs.
type activity struct {
	mu      sync.Mutex
	waiting int       // requests that wait for their next event
	since   time.Time // of the last sign of life, or of the first of them waiting
}

// wait notes that a request waits.
func (a *activity) wait() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting++; a.waiting == 1 {
		a.since = time.Now()
	}
}

// got notes that it waits no more.
func (a *activity) got() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting--
	a.since = time.Now()
}

// silence is how long requests have waited without a sign of life for any
// of them; 0 when none waits.
func (a *activity) silence() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == 0 {
		return 0
	}
	return time.Since(a.since)
}
