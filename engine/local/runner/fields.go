package runner

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// fields takes the fields of a message, one after the other: a writer writes
// what they hold, and a reader sets them. So what is written and what is read
// cannot differ.
type fields interface {
	number(*int)
	real(*float64)
	flag(*bool)
	text(*string)
	bytes(*[]byte)
	moment(*time.Time)
	ok() bool // nothing has failed

	// length is that of a list. Its members follow, each of which has the least
	// of bytes or more.
	length(n int, least func() int) int
}

func numbers(f fields, all ...*int) {
	for _, n := range all {
		f.number(n)
	}
}

func texts(f fields, all ...*string) {
	for _, s := range all {
		f.text(s)
	}
}

// list takes the members of a list. An empty one arrives as nil.
func list[T any](f fields, all *[]T, each func(fields, *T)) {
	n := f.length(len(*all), func() int {
		var least T
		w := &writer{}
		each(w, &least)
		return len(w.frame)
	})
	if n > len(*all) {
		*all = make([]T, n)
	}
	for i := 0; i < n && f.ok(); i++ {
		each(f, &(*all)[i])
	}
}

// writer appends fields to a frame.
type writer struct{ frame []byte }

func (w *writer) number(n *int) { w.frame = binary.AppendVarint(w.frame, int64(*n)) }
func (w *writer) real(x *float64) {
	w.frame = binary.LittleEndian.AppendUint64(w.frame, math.Float64bits(*x))
}
func (w *writer) text(s *string) {
	w.frame = append(binary.AppendUvarint(w.frame, uint64(len(*s))), *s...)
}
func (w *writer) bytes(b *[]byte) {
	w.frame = append(binary.AppendUvarint(w.frame, uint64(len(*b))), *b...)
}

func (w *writer) ok() bool { return true }

func (w *writer) length(n int, _ func() int) int {
	w.frame = binary.AppendUvarint(w.frame, uint64(n))
	return n
}

func (w *writer) flag(is *bool) {
	if *is {
		w.frame = append(w.frame, 1)
		return
	}
	w.frame = append(w.frame, 0)
}

// moment writes how long after the zero time it is, in seconds and nanoseconds.
func (w *writer) moment(t *time.Time) {
	w.frame = binary.AppendVarint(w.frame, t.Unix()-time.Time{}.Unix())
	w.frame = binary.AppendUvarint(w.frame, uint64(t.Nanosecond()))
}

// reader takes fields off a frame. What cannot be read is the end of the frame:
// all fields behind it are zero, and all lists empty.
type reader struct {
	frame []byte
	err   error
}

var (
	errShort = errors.New("a frame that ends within a field")
	errLong  = errors.New("a frame that goes on behind its message")
	errWide  = errors.New("a number that is too large")
)

func (r *reader) ok() bool { return r.err == nil }

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.frame = nil
}

func (r *reader) varint() int64 {
	n, size := binary.Varint(r.frame)
	if size <= 0 {
		r.fail(errShort)
		return 0
	}
	r.frame = r.frame[size:]
	return n
}

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.frame)
	if size <= 0 {
		r.fail(errShort)
		return 0
	}
	r.frame = r.frame[size:]
	return n
}

// take takes n bytes off the frame.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.frame)) {
		r.fail(errShort)
		return nil
	}
	taken := r.frame[:n]
	r.frame = r.frame[n:]
	return taken
}

func (r *reader) number(n *int)  { *n = int(r.varint()) }
func (r *reader) text(s *string) { *s = string(r.take(r.uvarint())) }

// length is no more than the frame has room for: memory is taken for it.
func (r *reader) length(_ int, least func() int) int {
	n := r.uvarint()
	if n == 0 {
		return 0
	}
	if n > uint64(len(r.frame)/least()) {
		r.fail(errShort)
		return 0
	}
	return int(n)
}

func (r *reader) real(x *float64) {
	if b := r.take(8); b != nil {
		*x = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
}

func (r *reader) bytes(b *[]byte) { *b = append(*b, r.take(r.uvarint())...) }

func (r *reader) flag(is *bool) {
	if b := r.take(1); b != nil {
		*is = b[0] != 0
	}
}

func (r *reader) moment(t *time.Time) {
	seconds, nanoseconds := r.varint(), r.uvarint()
	if nanoseconds >= uint64(time.Second) {
		r.fail(errWide)
		return
	}
	*t = time.Unix(seconds+time.Time{}.Unix(), int64(nanoseconds)).UTC()
}
