// Package flagvalue has the types of flags. Each refuses a value out of range
// when the command line is parsed, and says what the range is.
package flagvalue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	units "github.com/docker/go-units"
)

// List is a repeatable flag.
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

// Path is a flag for a file that must not be empty: an empty value is most
// likely an unset shell variable.
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

// Number is the value of a [Within]; 0: the flag is not set.
type Number int

func (s Number) String() string { return strconv.Itoa(int(s)) }

// Within is a flag for a whole number in a range.
type Within struct {
	To          *Number
	Least, Most int
}

func (w Within) String() string {
	if w.To == nil || *w.To == 0 {
		return "" // pflag then shows no default
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

// Span is a flag for a duration in a range.
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

// maxKeepAlive is a year: more is a mistaken unit, or means forever.
const maxKeepAlive = 365 * 24 * time.Hour

// KeepAlive is a flag for the keep-alive of a library, where negative means
// forever; 0: the flag is not set.
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
	if err != nil || d < 0 || d > maxKeepAlive {
		return fmt.Errorf("want a time such as 30m or 1h30m, from 0 to %dh, or forever", maxKeepAlive/time.Hour)
	}
	*k = KeepAlive(max(d, 1)) // 0 would mean not set
	return nil
}

// The range of a [Memory], in bytes. Less is a missing unit, and no machine
// has more.
const (
	MinMemory = 1 << 20
	maxMemory = 1 << 50
)

// Memory is a flag for a number of bytes; 0: the flag is not set.
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
	if err != nil || n < MinMemory || n > maxMemory {
		return errors.New("want a size such as 12GB or 900MiB, from 1MiB to 1PiB")
	}
	*m = Memory(n)
	return nil
}
