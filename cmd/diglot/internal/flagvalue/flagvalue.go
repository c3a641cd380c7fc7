// Package flagvalue has the values that the flags of commands take: those that cannot
// be meant are refused where they are written, with the ones that can.
package flagvalue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	units "github.com/docker/go-units"
)

// List is a flag that may be repeated.
type List []string

func (l *List) String() string { return strings.Join(*l, " ") }

func (l *List) Type() string { return "text" }

func (l *List) Set(value string) error {
	if value == "" {
		return errors.New("empty value")
	}
	*l = append(*l, value)
	return nil
}

// Path is a flag for a file that is not as good as absent: an empty value is
// a variable that was to hold a path.
type Path struct{ To *string }

func (f Path) String() string {
	if f.To == nil {
		return ""
	}
	return *f.To
}

func (f Path) Type() string { return "file" }

func (f Path) Set(value string) error {
	if value == "" {
		return errors.New("empty value")
	}
	*f.To = value
	return nil
}

// Number is a number that a flag says; 0 says that it was not given.
type Number int

func (s Number) String() string { return strconv.Itoa(int(s)) }

// Within is a flag for a whole number in a range. All flags for numbers are
// of this type, so that a number that cannot be meant is refused where it is
// written, with the ones that can.
type Within struct {
	To          *Number
	Least, Most int
}

func (w Within) String() string {
	if w.To == nil || *w.To == 0 {
		return "" // pflag shows no default then
	}
	return w.To.String()
}

func (w Within) Type() string { return "number" }

func (w Within) Set(value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < w.Least || n > w.Most {
		return fmt.Errorf("want a whole number from %d to %d", w.Least, w.Most)
	}
	*w.To = Number(n)
	return nil
}

// Span is a flag for a time in a range.
type Span struct {
	To          *time.Duration
	Least, Most time.Duration
}

func (s Span) String() string {
	if s.To == nil {
		return ""
	}
	return s.To.String()
}

func (s Span) Type() string { return "time" }

func (s Span) Set(value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < s.Least || d > s.Most {
		return fmt.Errorf("want a time such as 30s, from %v to %v", s.Least, s.Most)
	}
	*s.To = d
	return nil
}

// mostKeepAlive is the longest time that can be meant, a year: who gives more
// has mistaken the unit, or means forever.
const mostKeepAlive = 365 * 24 * time.Hour

// KeepAlive is a flag for a duration as the library has it; 0 says that
// it was not given.
type KeepAlive time.Duration

func (k *KeepAlive) String() string {
	switch {
	case *k == 0:
		return ""
	case *k < 0:
		return "forever"
	}
	return time.Duration(*k).String()
}

func (k *KeepAlive) Type() string { return "time" }

func (k *KeepAlive) Set(value string) error {
	if value == "forever" {
		*k = -1
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d > mostKeepAlive {
		return fmt.Errorf("want a time such as 30m or 1h30m, from 0 to %dh, or forever", mostKeepAlive/time.Hour)
	}
	*k = KeepAlive(max(d, 1)) // 0 is as good as the shortest time
	return nil
}

// What can be meant for models, in bytes: who gives less has left out the
// unit, and no machine has more.
const (
	LeastMemory = 1 << 20
	mostMemory  = 1 << 50
)

// Memory is a flag for some bytes; 0 says that it was not given.
type Memory int64

func (m *Memory) String() string {
	if *m == 0 {
		return ""
	}
	return units.HumanSize(float64(*m))
}

func (m *Memory) Type() string { return "memory" }

func (m *Memory) Set(value string) error {
	read := units.FromHumanSize
	if strings.ContainsAny(value, "iI") { // GiB and the like
		read = units.RAMInBytes
	}
	n, err := read(value)
	if err != nil || n < LeastMemory || n > mostMemory {
		return errors.New("want a size such as 12GB or 900MiB, from 1MiB to 1PiB")
	}
	*m = Memory(n)
	return nil
}
