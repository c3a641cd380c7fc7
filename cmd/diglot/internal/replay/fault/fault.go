// Package fault describes what goes wrong with a reply of diglot replay, so that a client
// team can test what its client does then.
//
// A fault is a dictionary of structured fields (RFC 9651), in a request header or in a file
// of [Rules]:
//
//	status=503;retry-after=2    an error instead of the reply, in the style's envelope;
//	                            retry-after=none leaves out the header
//	error=overloaded;after=3    an error within the stream, in its dialect, behind 3 deltas
//	slow=2.5                    2.5 seconds until the first event; keep-alives go on
//	stall=10;after=3            10 seconds of silence behind 3 events, without keep-alives
//	stall                       silence until the client leaves
//	cut;after=3, cut;bytes=100  the connection ends behind 3 events, or 100 bytes of the body
//	rubbish;after=3             the event behind 3 others is no JSON; a whole reply is HTML
//
// Several may be combined: slow=1, cut;after=5. A reply that is too short for its fault has
// it before its last event, or behind all of a reply that is no stream.
package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/diglot/diglot/engine"
)

// Header is the request header that has a fault.
const Header = "Diglot-Fault"

// MaxWait limits a pause: also the one that lasts until the client leaves.
const MaxWait = 10 * time.Minute

// Fault is what goes wrong with one reply. The zero value is nothing.
type Fault struct {
	Status  *Status
	Error   *Error
	Slow    time.Duration // until the first event
	Stall   *Stall
	Cut     *Cut
	Rubbish *Rubbish
}

// Status is an error instead of the reply.
type Status struct {
	Code       int
	RetryAfter string // seconds, or [NoHeader]; empty: as usual for the error
	NoRetry    bool   // with x-should-retry: false
}

// NoHeader is the RetryAfter of a reply that says nothing about it.
const NoHeader = "none"

// Error is an error within a reply.
type Error struct {
	Code  engine.Code
	After int // deltas of text, reasoning or arguments
}

// Stall is silence.
type Stall struct {
	For   time.Duration // 0: until the client leaves
	After int           // events
}

// Cut is the end of the connection.
type Cut struct {
	After int // events
	Bytes int // of the body; takes the place of After if it is not 0
}

// Rubbish is what a client cannot read.
type Rubbish struct{ After int }

// Waits reports whether the fault takes time.
func (f *Fault) Waits() bool { return f.Slow > 0 || f.Stall != nil }

// Made reports whether the reply must be made for the fault, since a recorded one cannot
// have it.
func (f *Fault) Made() bool { return f.Slow > 0 || f.Error != nil }

// Parse reads a fault.
func Parse(lines ...string) (*Fault, error) {
	dictionary, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return nil, fmt.Errorf("want a dictionary such as status=503;retry-after=2: %w", err)
	}
	f := &Fault{}
	for _, name := range dictionary.Names() {
		member, _ := dictionary.Get(name)
		item, ok := member.(httpsfv.Item)
		read := kinds[name]
		switch {
		case read == nil:
			return nil, fmt.Errorf("%q is none of status, error, slow, stall, cut, rubbish", name)
		case !ok:
			return nil, fmt.Errorf("%s has a list", name)
		}
		v := &values{name: name, item: item}
		read(f, v)
		if v.err == nil {
			v.unknown()
		}
		if v.err != nil {
			return nil, v.err
		}
	}
	if f.Status != nil && f.Error != nil {
		return nil, errors.New("status and error exclude each other: the first is instead of the reply, the second within it")
	}
	return f, nil
}

// codes are the errors that a stream may have.
var codes = []string{string(engine.CodeInternal), string(engine.CodeOverloaded), string(engine.CodeEngineCrashed), string(engine.CodeDeadline),
	string(engine.CodeContextLength), string(engine.CodeInvalidArgument)}

// maxCount limits counts of events and bytes.
const maxCount = 1 << 20

// defaultAfter is behind how many deltas an error comes.
const defaultAfter = 3

var kinds = map[string]func(*Fault, *values){
	"status": func(f *Fault, v *values) {
		f.Status = &Status{Code: v.whole("", 0, 400, 599), RetryAfter: v.retryAfter(), NoRetry: v.flag("no-retry")}
	},
	"error": func(f *Fault, v *values) {
		f.Error = &Error{Code: engine.Code(v.word("", codes...)), After: v.whole("after", defaultAfter, 0, maxCount)}
	},
	"slow": func(f *Fault, v *values) {
		if f.Slow = v.seconds(); f.Slow == 0 {
			v.fail("wants seconds, as in slow=2.5")
		}
	},
	"stall": func(f *Fault, v *values) { f.Stall = &Stall{For: v.seconds(), After: v.whole("after", 0, 0, maxCount)} },
	"cut": func(f *Fault, v *values) {
		v.alone()
		f.Cut = &Cut{After: v.whole("after", 0, 0, maxCount), Bytes: v.whole("bytes", 0, 1, maxCount)}
	},
	"rubbish": func(f *Fault, v *values) {
		v.alone()
		f.Rubbish = &Rubbish{After: v.whole("after", 0, 0, maxCount)}
	},
}

// values reads the value and the parameters of one member. The first mistake counts.
type values struct {
	name string
	item httpsfv.Item
	read []string // names of parameters
	err  error
}

func (v *values) fail(format string, args ...any) {
	if v.err == nil {
		v.err = fmt.Errorf(v.name+" "+format, args...)
	}
}

// get returns a parameter, or the value for "". A member without a value is true.
func (v *values) get(name string) (any, bool) {
	if name == "" {
		return v.item.Value, v.item.Value != true
	}
	v.read = append(v.read, name)
	if v.item.Params == nil {
		return nil, false
	}
	return v.item.Params.Get(name)
}

// label names what is wrong.
func label(name string) string {
	if name == "" {
		return "its value"
	}
	return name
}

func (v *values) whole(name string, fallback, least, most int) int {
	value, ok := v.get(name)
	if !ok {
		if name == "" {
			v.fail("wants a number, as in %s=503", v.name)
		}
		return fallback
	}
	n, ok := value.(int64)
	if !ok || n < int64(least) || n > int64(most) {
		v.fail("wants a whole number from %d to %d for %s", least, most, label(name))
		return fallback
	}
	return int(n)
}

// retryAfter is the value of a header, or NoHeader.
func (v *values) retryAfter() string {
	const name = "retry-after"
	switch value, ok := v.get(name); {
	case !ok:
		return ""
	case value == httpsfv.Token(NoHeader):
		return NoHeader
	default:
		return strconv.Itoa(v.whole(name, 0, 0, 86_400))
	}
}

func (v *values) flag(name string) bool {
	value, ok := v.get(name)
	if yes, is := value.(bool); ok && is {
		return yes
	}
	if ok {
		v.fail("wants no value for %s", name)
	}
	return false
}

// word is a token, the first of those allowed if it is absent.
func (v *values) word(name string, allowed ...string) string {
	value, ok := v.get(name)
	if !ok {
		return allowed[0]
	}
	token, _ := value.(httpsfv.Token)
	if !slices.Contains(allowed, string(token)) {
		v.fail("wants one of %s for %s", strings.Join(allowed, ", "), label(name))
	}
	return string(token)
}

// seconds is the value as a time; 0 if it is absent.
func (v *values) seconds() time.Duration {
	value, ok := v.get("")
	if !ok {
		return 0
	}
	var d time.Duration
	switch n := value.(type) {
	case int64:
		d = time.Duration(min(max(n, -1), 1<<20)) * time.Second
	case float64:
		d = time.Duration(min(max(n, -1), 1<<20) * float64(time.Second))
	}
	if d <= 0 || d > MaxWait {
		v.fail("wants seconds, more than 0 and up to %d", int(MaxWait/time.Second))
	}
	return d
}

// alone fails for a value.
func (v *values) alone() {
	if _, ok := v.get(""); ok {
		v.fail("has no value, only parameters")
	}
}

// unknown fails for a parameter that nothing has read.
func (v *values) unknown() {
	if v.item.Params == nil {
		return
	}
	for _, name := range v.item.Params.Names() {
		if !slices.Contains(v.read, name) {
			v.fail("has no parameter %s", name)
		}
	}
}

type key struct{}

// With returns a context that carries f.
func With(ctx context.Context, f *Fault) context.Context { return context.WithValue(ctx, key{}, f) }

// From returns the fault of ctx, or an empty one.
func From(ctx context.Context) *Fault {
	if f, ok := ctx.Value(key{}).(*Fault); ok {
		return f
	}
	return &Fault{}
}

// Wait pauses for d, at most MaxWait, or until ctx ends. d 0 is as long as possible.
func Wait(ctx context.Context, d time.Duration) {
	if d == 0 || d > MaxWait {
		d = MaxWait
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
