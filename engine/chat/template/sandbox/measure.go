package sandbox

import (
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

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
	case depth > bounds.MaxNesting:
		return bounds.ErrNesting
	case m.nodes > m.most:
		return bounds.ErrWork
	case m.bytes > m.r.Limit():
		return bounds.ErrMemory
	case m.nodes%(1<<12) == 0 && m.r.Err() != nil:
		return m.r.Err()
	}
	m.deepest = max(m.deepest, depth)
	switch {
	case v.IsString():
		s := v.AsString()
		m.longest = max(m.longest, int64(len(s)))
		m.bytes = bounds.Add(m.bytes, m.text(s))
	case v.IsList():
		for _, item := range v.AsList().Items {
			m.bytes = bounds.Add(m.bytes, m.each(depth))
			if err := m.walk(item, depth+1); err != nil {
				return err
			}
		}
		m.bytes = bounds.Add(m.bytes, m.each(depth))
	case v.IsDict():
		d := v.AsDict()
		for _, key := range d.Keys {
			m.bytes = bounds.Add(m.bytes, m.text(key), m.each(depth))
			if err := m.walk(d.Data[key], depth+1); err != nil {
				return err
			}
		}
		m.bytes = bounds.Add(m.bytes, m.each(depth))
	case v.IsCallable():
		m.bytes = bounds.Add(m.bytes, int64(len(v.AsCallable().Name))+12)
	default:
		m.bytes = bounds.Add(m.bytes, 32) // the longest number has 24
	}
	return nil
}

// scan walks over v as far as an operation could take it.
func (r *rendering) scan(v jinja.Value) (*measure, error) {
	m := &measure{r: r, most: bounds.MaxWork, text: quotedSize, each: func(int) int64 { return 6 }}
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
	return bounds.Times(m.bytes, int64(m.deepest)+1), err
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
		return bounds.Times(length(v), 64)
	case v.IsString():
		return bounds.Times(length(v), 96)
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
		return bounds.MaxBytes // it may spell one
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
