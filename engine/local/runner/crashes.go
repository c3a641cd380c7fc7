package runner

import (
	"sync"
	"time"
)

const (
	// crashMemory is how long the suspects of a crash are remembered.
	crashMemory = time.Hour

	// maxCrashMemory is how many suspects are remembered.
	maxCrashMemory = 1 << 10

	// minRefusal is how long a request that caused a crash is refused. It doubles
	// with each further crash, up to crashMemory.
	minRefusal = time.Minute

	// manyCrashes in crashWindow are a crash loop.
	manyCrashes = 3
	crashWindow = time.Minute

	// maxSuspected is at how many crashes a suspect counts as the cause, whatever
	// else was running.
	maxSuspected = 3
)

// crashLog records the crashes of a model and the requests that were running.
type crashLog struct {
	mu      sync.Mutex
	seen    map[requestKey]*suspicion
	crashes []time.Time // of the last crashWindow, while requests ran
}

// suspicion is the record of a request.
type suspicion struct {
	crashes int // during which it was running
	caused  int // of these
	at      time.Time
	refused time.Time // until then
}

func (c *crashLog) empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seen) == 0
}

// crashLoop is how long the crash loop lasts if no further crash happens; 0: there
// is none.
func (c *crashLog) crashLoop() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.expire(now)
	if len(c.crashes) < manyCrashes {
		return 0
	}
	return c.crashes[len(c.crashes)-manyCrashes].Add(crashWindow).Sub(now) + 1
}

// recordCrash records a crash while requests were running.
func (c *crashLog) recordCrash() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.expire(now)
	c.crashes = append(c.crashes, now)
}

// record records that a request was running in a process that exited, and reports
// whether it is the cause. proven: it must be. alone: nothing else was running, but
// the process may have been killed from outside, which happens once by chance.
func (c *crashLog) record(key requestKey, alone, proven bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.expire(now)
	s := c.seen[key]
	if s == nil {
		s = &suspicion{}
		c.add(key, s)
	}
	s.crashes++
	s.at = now
	if !proven && !(alone && s.crashes > 1) && s.crashes < maxSuspected {
		return false
	}
	s.caused++
	s.refused = now.Add(min(minRefusal<<min(s.caused-1, 10), crashMemory))
	return true
}

// lookup returns during how many crashes a request was running, and for how long it
// is refused.
func (c *crashLog) lookup(key requestKey) (crashes int, refused time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.expire(now)
	s := c.seen[key]
	if s == nil {
		return 0, 0
	}
	return s.crashes, max(s.refused.Sub(now), 0)
}

// clear removes a request that was answered.
func (c *crashLog) clear(key requestKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.seen, key)
}

// expire removes old records. The mutex is held.
func (c *crashLog) expire(now time.Time) {
	for k, s := range c.seen {
		if now.Sub(s.at) > crashMemory {
			delete(c.seen, k)
		}
	}
	for len(c.crashes) > 0 && now.Sub(c.crashes[0]) > crashWindow {
		c.crashes = c.crashes[1:]
	}
}

// add adds a record, in place of the oldest one if there are too many. The mutex is
// held.
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
