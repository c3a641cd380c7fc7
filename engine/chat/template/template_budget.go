package template

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

const (
	// lookEvery is how many bytes a rendering may make between two looks at
	// the heap.
	lookEvery = 1 << 20

	// ownShare is the part of its limit that a rendering must have made itself
	// to be what the heap grew by.
	ownShare = 16

	// ownDepth is how deep a rendering is that may be what the stacks grew by.
	ownDepth = 16

	// maxBytes is more than anything that is counted: sums and products end
	// there.
	maxBytes = 1 << 50

	// maxWork bounds what one operation may look at, which is not always
	// paid for with memory: values that are compared, or characters. It is about
	// a tenth of a second.
	maxWork = 1 << 24
)

var errWork = errors.New("one operation of the chat template takes too long")

// tookTooMuch reports whether a rendering ended for what it would have taken.
func tookTooMuch(err error) bool {
	return errors.Is(err, errHeap) || errors.Is(err, errWork) || errors.Is(err, errDeep)
}

// grow asks for bytes that are about to be made. What nobody holds any more
// is collected before it says no.
func (r *rendering) grow(bytes int64) error {
	r.made = add(r.made, bytes)
	r.total = add(r.total, bytes)
	if r.made < lookEvery {
		return nil
	}
	r.made = 0
	if bytes > r.limit {
		return errHeap
	}
	if err := r.begin(); err != nil {
		return err
	}
	return r.look(bytes)
}

func (r *rendering) look(bytes int64) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	most := r.start + uint64(r.limit)
	if heapSize()+uint64(bytes) <= most {
		return nil
	}
	runtime.GC()
	if heapSize()+uint64(bytes) <= most {
		return nil
	}
	if r.total < r.limit/ownShare && r.depth < ownDepth {
		return errCrowded
	}
	return errHeap
}

// add and times are of numbers that are not negative.
func add(numbers ...int64) int64 {
	sum := int64(0)
	for _, n := range numbers {
		sum = min(sum+min(n, maxBytes), maxBytes)
	}
	return sum
}

func times(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > maxBytes/b {
		return maxBytes
	}
	return a * b
}

// work says no to an operation that would take too many steps.
func work(steps int64) error {
	if steps > maxWork {
		return errWork
	}
	return nil
}

// measure is a walk over a value. A value may hold another one many times, so
// that a small one is endless when it is written out.
type measure struct {
	r       *rendering
	bytes   int64 // that it takes, written out
	nodes   int64
	longest int64 // text in it, in bytes
	deepest int
	most    int64 // nodes

	text func(string) int64 // how long a text is when it is written
	each func(depth int) int64
}

// walk visits v and all that is in it.
func (m *measure) walk(v jinja.Value, depth int) error {
	m.nodes++
	switch {
	case depth > maxNesting:
		return errDeep
	case m.nodes > m.most:
		return errWork
	case m.bytes > m.r.limit:
		return errHeap
	case m.nodes%(1<<12) == 0 && m.r.ctx.Err() != nil:
		return context.Cause(m.r.ctx)
	}
	m.deepest = max(m.deepest, depth)
	switch {
	case v.IsString():
		s := v.AsString()
		m.longest = max(m.longest, int64(len(s)))
		m.bytes = add(m.bytes, m.text(s))
	case v.IsList():
		for _, item := range v.AsList().Items {
			m.bytes = add(m.bytes, m.each(depth))
			if err := m.walk(item, depth+1); err != nil {
				return err
			}
		}
		m.bytes = add(m.bytes, m.each(depth))
	case v.IsDict():
		d := v.AsDict()
		for _, key := range d.Keys {
			m.bytes = add(m.bytes, m.text(key), m.each(depth))
			if err := m.walk(d.Data[key], depth+1); err != nil {
				return err
			}
		}
		m.bytes = add(m.bytes, m.each(depth))
	case v.IsCallable():
		m.bytes = add(m.bytes, int64(len(v.AsCallable().Name))+12)
	default:
		m.bytes = add(m.bytes, 32) // the longest number has 24
	}
	return nil
}

var errDeep = errors.New("a value of the chat template nests too deeply")

// scan walks over v as far as an operation could take it.
func (r *rendering) scan(v jinja.Value) (*measure, error) {
	m := &measure{r: r, most: maxWork, text: quotedSize, each: func(int) int64 { return 6 }}
	return m, m.walk(v, 0)
}

// printed is how many bytes are made to print v; the text of a text is there
// already.
func (r *rendering) printed(v jinja.Value) (int64, error) {
	if v.IsString() {
		return int64(len(v.AsString())), nil
	}
	if !v.IsList() && !v.IsDict() {
		return 32, nil
	}
	m, err := r.scan(v)
	// Each list or dict is written by itself, and copied into the one around.
	return times(m.bytes, int64(m.deepest)+1), err
}

// quotedSize is the length of a text in quotes, at most, as Python shows it
// and JSON writes it.
func quotedSize(s string) int64 {
	size := int64(len(s)) + 2
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ' || c == 0x7f:
			size += 5
		case c == '"' || c == '\\' || c == '\'':
			size++
		}
	}
	if !utf8.ValidString(s) {
		size += 2 * int64(len(s)) // each byte may become U+FFFD
	}
	return size
}

// length is how many items a value has when something goes through it.
func length(v jinja.Value) int64 {
	switch {
	case v.IsList():
		return int64(v.AsList().Len())
	case v.IsDict():
		return int64(v.AsDict().Len())
	case v.IsString():
		return int64(utf8.RuneCountInString(v.AsString()))
	}
	return 0
}

// iterated is how many bytes are made to go through a value: a list is there
// already.
func iterated(v jinja.Value) int64 {
	switch {
	case v.IsDict():
		return times(length(v), 64)
	case v.IsString():
		return times(length(v), 96)
	}
	return 0
}

// textOf is a value as a text, if it is one.
func textOf(v jinja.Value) string {
	if v.IsString() {
		return v.AsString()
	}
	return ""
}

// numberOf is a value as a number, as the library takes it.
func numberOf(v jinja.Value) int64 {
	switch {
	case v.IsInt():
		return v.AsInt()
	case v.IsFloat():
		return int64(v.AsFloat())
	case v.IsBool() && v.AsBool():
		return 1
	case v.IsString():
		return maxBytes // it may spell one
	}
	return 0
}

// lines is how many a text has, by all that ends one.
func lines(s string) int64 {
	n := int64(1)
	for _, r := range s {
		if strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) {
			n++
		}
	}
	return n
}
