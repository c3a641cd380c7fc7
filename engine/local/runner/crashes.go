package runner

import (
	"sync"
	"time"
)

const (
	// crashMemory is how long a request is remembered to have been running
	// in a process that crashed.
	crashMemory = time.Hour

	// maxCrashMemory bounds how many requests are remembered.
	maxCrashMemory = 1 << 10

	// leastRefusal is how long a request that ended a process is refused. It
	// doubles with each further process, up to crashMemory.
	leastRefusal = time.Minute

	// A model whose processes end often answers one request at a time: after
	// manyCrashes in crashWindow, until there were fewer.
	manyCrashes = 3
	crashWindow = time.Minute

	// maxSuspicion is how often a request may be among the suspects: whatever
	// else ran each time, it is the cause then.
	maxSuspicion = 3
)

// crashLog remembers the crashes of a model, and which requests were running
// then.
type crashLog struct {
	mu      sync.Mutex
	seen    map[requestKey]*suspicion
	crashes []time.Time // of the last crashWindow, while requests ran
}

// suspicion is what is known of a request.
type suspicion struct {
	crashes int // that it was running at
	proofs  int // of them, those that it caused
	at      time.Time
	refused time.Time // until when it is
}

// empty reports whether nothing is remembered, so that no key is needed.
func (c *crashLog) empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seen) == 0
}

// calm is how long processes are taken to end often, if no further one does; 0:
// they do not.
func (c *crashLog) calm() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.forget(now)
	if len(c.crashes) < manyCrashes {
		return 0
	}
	return c.crashes[len(c.crashes)-manyCrashes].Add(crashWindow).Sub(now) + 1
}

// crashed notes the end of a process while requests ran.
func (c *crashLog) crashed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.forget(now)
	c.crashes = append(c.crashes, now)
}

// suspect notes that a request was running in a process that ended, and says
// whether it is the cause: proven says that it must be, and alone that nothing
// else ran, for which there may be another reason once.
func (c *crashLog) suspect(key requestKey, alone, proven bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.forget(now)
	s := c.seen[key]
	if s == nil {
		s = &suspicion{}
		c.add(key, s)
	}
	s.crashes++
	s.at = now
	if !proven && !(alone && s.crashes > 1) && s.crashes < maxSuspicion {
		return false
	}
	s.proofs++
	s.refused = now.Add(min(leastRefusal<<min(s.proofs-1, 10), crashMemory))
	return true
}

// look says how often a request was running at a crash, and for how long it
// is refused; 0: it is not.
func (c *crashLog) look(key requestKey) (crashes int, refused time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.forget(now)
	s := c.seen[key]
	if s == nil {
		return 0, 0
	}
	return s.crashes, max(s.refused.Sub(now), 0)
}

// acquit forgets a request that was answered.
func (c *crashLog) acquit(key requestKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.seen, key)
}

// forget drops what is too old. The mutex is held.
func (c *crashLog) forget(now time.Time) {
	for k, s := range c.seen {
		if now.Sub(s.at) > crashMemory {
			delete(c.seen, k)
		}
	}
	for len(c.crashes) > 0 && now.Sub(c.crashes[0]) > crashWindow {
		c.crashes = c.crashes[1:]
	}
}

// add remembers a request, in place of the oldest one where there are many.
// The mutex is held.
func (c *crashLog) add(key requestKey, s *suspicion) {
	if c.seen == nil {
		c.seen = map[requestKey]*suspicion{}
	}
	if len(c.seen) >= maxCrashMemory {
		var oldest requestKey
		for k, other := range c.seen {
			if first := c.seen[oldest]; first == nil || other.at.Before(first.at) {
				oldest = k
			}
		}
		delete(c.seen, oldest)
	}
	c.seen[key] = s
}
