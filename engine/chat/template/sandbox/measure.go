package sandbox

import (
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// measure walks over a value. It may contain another one many times, so a small
// value can be huge when printed.
type measure struct {
	r       *rendering
	bytes   int64 // printed size
	nodes   int64
	longest int64 // bytes of the longest string
	deepest int
	most    int64 // limit of nodes

	text func(string) int64    // printed size of a string
	each func(depth int) int64 // of what is around an item
}

// walk visits v and everything in it.
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

// scan measures v.
func (r *rendering) scan(v jinja.Value) (*measure, error) {
	m := &measure{r: r, most: bounds.MaxWork, text: quotedSize, each: func(int) int64 { return 6 }}
	return m, m.walk(v, 0)
}

// printed is how many bytes printing v allocates; a string is not copied.
func (r *rendering) printed(v jinja.Value) (int64, error) {
	if v.IsString() {
		return int64(len(v.AsString())), nil
	}
	if !v.IsList() && !v.IsDict() {
		return 32, nil
	}
	m, err := r.scan(v)
	// Each list or dict is printed by itself and copied into the outer one.
	return bounds.Times(m.bytes, int64(m.deepest)+1), err
}

// quotedSize is an upper bound of a string's size as a Python or JSON literal.
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

// length is how many items an iteration over a value has.
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

// iterated is how many bytes an iteration over a value allocates; a list is not
// copied.
func iterated(v jinja.Value) int64 {
	switch {
	case v.IsDict():
		return bounds.Times(length(v), 64)
	case v.IsString():
		return bounds.Times(length(v), 96)
	}
	return 0
}

// textOf is a string value, or "".
func textOf(v jinja.Value) string {
	if v.IsString() {
		return v.AsString()
	}
	return ""
}

// numberOf is a value as a number, as the library converts it.
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

// lines counts the lines of a text, by all Unicode line ends.
func lines(s string) int64 {
	n := int64(1)
	for _, r := range s {
		if strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) {
			n++
		}
	}
	return n
}
