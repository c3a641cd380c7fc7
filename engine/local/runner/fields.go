package runner

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// fields visits the fields of a message in order: a writer encodes them, a reader
// decodes them. One function for both keeps them consistent.
type fields interface {
	number(*int)
	float(*float64)
	flag(*bool)
	text(*string)
	bytes(*[]byte)
	timestamp(*time.Time)
	ok() bool // no error so far

	// length is the length of a list, whose elements take at least minSize bytes.
	length(n int, minSize func() int) int
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

// list encodes a list. An empty one is decoded as nil.
func list[T any](f fields, all *[]T, each func(fields, *T)) {
	n := f.length(len(*all), func() int {
		var zero T
		w := &writer{}
		each(w, &zero)
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
func (w *writer) float(x *float64) {
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

// timestamp writes seconds and nanoseconds since the zero time.
func (w *writer) timestamp(t *time.Time) {
	w.frame = binary.AppendVarint(w.frame, t.Unix()-time.Time{}.Unix())
	w.frame = binary.AppendUvarint(w.frame, uint64(t.Nanosecond()))
}

// reader decodes a frame. After an error all further fields are zero.
type reader struct {
	frame []byte
	err   error
}

var (
	errShort = errors.New("truncated frame")
	errLong  = errors.New("trailing bytes in frame")
	errWide  = errors.New("number out of range")
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

// length rejects a list that is longer than its frame, before it is allocated.
func (r *reader) length(_ int, minSize func() int) int {
	n := r.uvarint()
	if n == 0 {
		return 0
	}
	if n > uint64(len(r.frame)/minSize()) {
		r.fail(errShort)
		return 0
	}
	return int(n)
}

func (r *reader) float(x *float64) {
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

func (r *reader) timestamp(t *time.Time) {
	seconds, nanoseconds := r.varint(), r.uvarint()
	if nanoseconds >= uint64(time.Second) {
		r.fail(errWide)
		return
	}
	*t = time.Unix(seconds+time.Time{}.Unix(), int64(nanoseconds)).UTC()
}
