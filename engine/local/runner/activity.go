package runner

import (
	"fmt"
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

// progress is how far the image is that a process draws, one at a time.
type progress struct {
	mu      sync.Mutex
	last    heartbeat
	running int // requests for images, of which one draws
}

// maxSteps is far above what images take.
const maxSteps = 1 << 20

// set fails for numbers that cannot be.
func (p *progress) set(h heartbeat) error {
	if h.step < 0 || h.of < h.step || h.of > maxSteps {
		return fmt.Errorf("step %d of %d", h.step, h.of)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = h
	return nil
}

// begin records a request for images.
func (p *progress) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running++
}

// end records that it has ended. With the last one, nothing is drawn any more.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running--; p.running == 0 {
		p.last = heartbeat{}
	}
}

func (p *progress) get() (step, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.step, p.last.of
}
