package flagvalue

import (
	"testing"
	"time"
)

func TestPaceFlag(t *testing.T) {
	for text, want := range map[string]time.Duration{ // 0: refused
		"20": 50 * time.Millisecond, "0.5": 2 * time.Second, "50ms": 50 * time.Millisecond, "1m": time.Minute, "0": 0, "-3": 0, "2m": 0, "1ns": 0, "x": 0, "": 0,
	} {
		var p Pace
		if err := p.Set(text); (err == nil) != (want != 0) || time.Duration(p) != want {
			t.Errorf("%q: %v, error %v; want %v", text, time.Duration(p), err, want)
		}
	}
}

func TestPercentFlag(t *testing.T) {
	for text, want := range map[string]Percent{"0": 0, "99.5": 99.5, "100": 100, "100.1": -1, "-1": -1, "NaN": -1, "": -1} { // -1: refused
		p := Percent(-1)
		if err := p.Set(text); (err == nil) != (want >= 0) || p != want {
			t.Errorf("%q: %v, error %v; want %v", text, p, err, want)
		}
	}
}
