package runner

import (
	"sync"
	"time"
)

// activity measures how long a process has been silent. Only time in which requests
// wait for the process counts, so that a slow reader does not look like a hanging
// process.
type activity struct {
	mu      sync.Mutex
	waiting int       // requests that wait for the process
	since   time.Time // of the last message, or of the first waiting request
}

// begin records that a request waits for the process.
func (a *activity) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting++; a.waiting == 1 {
		a.since = time.Now()
	}
}

// end records that it no longer waits.
func (a *activity) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting--
	a.since = time.Now()
}

// silence is how long requests have waited without a message to any of them; 0 if
// none waits.
func (a *activity) silence() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == 0 {
		return 0
	}
	return time.Since(a.since)
}
