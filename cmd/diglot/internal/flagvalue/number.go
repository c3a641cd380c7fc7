package flagvalue

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Percent is a flag from 0 to 100.
type Percent float64

func (p *Percent) String() string { return strconv.FormatFloat(float64(*p), 'g', -1, 64) }

func (p *Percent) Type() string { return "percent" }

func (p *Percent) Set(value string) error {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n >= 0 && n <= 100) { // not a number is none of both
		return errors.New("must be a number from 0 to 100")
	}
	*p = Percent(n)
	return nil
}

// Pace is a flag for the time between two events; 0: the flag is not set.
type Pace time.Duration

// The slowest and the fastest pace.
const (
	slowest = time.Minute
	fastest = time.Microsecond
)

func (p *Pace) String() string {
	if *p == 0 {
		return ""
	}
	return time.Duration(*p).String()
}

func (p *Pace) Type() string { return "speed" }

func (p *Pace) Set(value string) error {
	d, err := time.ParseDuration(value)
	if perSecond, wrong := strconv.ParseFloat(value, 64); wrong == nil && perSecond > 0 {
		d, err = time.Duration(float64(time.Second)/perSecond), nil
	}
	if err != nil || d < fastest || d > slowest {
		return fmt.Errorf("want a number of events per second such as 20, or a time between two such as 50ms, from %v to %v", fastest, slowest)
	}
	*p = Pace(d)
	return nil
}
