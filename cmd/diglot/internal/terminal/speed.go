package terminal

import (
	"sync"
	"time"
)

// window is the period over which a speed is averaged: long enough to smooth
// bursts, short enough to show a change.
const window = 5 * time.Second

// speed measures the speed of one part.
type speed struct {
	mu      sync.Mutex
	samples []sample // by time; the first may be before the window
}

type sample struct {
	at   time.Time
	done int64
}

// add adds a sample. A part that starts again is measured again.
func (s *speed) add(at time.Time, done int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.samples); n > 0 && done < s.samples[n-1].done {
		s.samples = nil
	}
	s.samples = append(s.samples, sample{at, done})
	for len(s.samples) > 2 && at.Sub(s.samples[1].at) > window {
		s.samples = s.samples[1:]
	}
}

// rate is the speed in bytes per second over the window before now; 0: unknown.
func (s *speed) rate(now time.Time) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) < 2 {
		return 0
	}
	first, last := s.samples[0], s.samples[len(s.samples)-1]
	if took := now.Sub(first.at).Seconds(); took > 0 {
		return float64(last.done-first.done) / took
	}
	return 0
}

// left is the remaining time at the rate; 0: unknown.
func left(bytes int64, rate float64) time.Duration {
	if rate < 1 {
		return 0
	}
	seconds := float64(bytes) / rate
	if seconds > (1000 * time.Hour).Seconds() {
		return 0
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second)
}
