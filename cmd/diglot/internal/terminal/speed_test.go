package terminal

import (
	"testing"
	"time"
)

func TestSpeed(t *testing.T) {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return begin.Add(time.Duration(seconds * float64(time.Second))) }
	for _, tt := range []struct {
		name    string
		samples []sample
		now     float64
		rate    float64
		left    time.Duration // of 1000 bytes
	}{
		{"nothing", nil, 1, 0, 0},
		{"one", []sample{{at(0), 500}}, 1, 0, 0},
		{"what was there before does not count", []sample{{at(0), 500}, {at(1), 600}}, 1, 100, 10 * time.Second},
		{"steady", []sample{{at(0), 0}, {at(1), 100}, {at(2), 200}, {at(3), 300}}, 3, 100, 10 * time.Second},
		{"the beginning is forgotten", []sample{{at(0), 0}, {at(10), 1}, {at(11), 1001}, {at(16), 6001}}, 16, 1000, time.Second},
		{"it stands still", []sample{{at(0), 0}, {at(1), 100}}, 10, 10, 100 * time.Second},
		{"anew", []sample{{at(0), 0}, {at(1), 900}, {at(2), 0}, {at(3), 50}}, 3, 50, 20 * time.Second},
		{"all at once", []sample{{at(0), 0}, {at(0), 900}}, 0, 0, 0},
		{"next to nothing", []sample{{at(0), 0}, {at(10), 1}}, 10, 0.1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s speed
			for _, x := range tt.samples {
				s.add(x.at, x.done)
			}
			rate := s.rate(at(tt.now))
			if rate != tt.rate {
				t.Errorf("rate %v, want %v", rate, tt.rate)
			}
			if got := left(1000, rate); got != tt.left {
				t.Errorf("left %v, want %v", got, tt.left)
			}
		})
	}
}
