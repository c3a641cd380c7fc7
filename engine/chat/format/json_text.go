package format

import (
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/plainjson"
)

// jsonExtent finds where a JSON value ends, one byte at a time. It follows
// strings and brackets and trusts the rest: whether the value is correct is
// for whoever reads it.
type jsonExtent struct {
	depth    int
	inString bool
	escaped  bool
	scalar   bool // a number or a word, which only what follows it can end
}

// extent says where the byte just read stands.
type extent int

const (
	extentInside extent = iota // part of the value, which goes on
	extentLast                 // the last byte of the value
	extentBehind               // no part of it: the value ended before
)

func (x *jsonExtent) next(c byte) extent {
	switch {
	case x.inString:
		switch {
		case x.escaped:
			x.escaped = false
		case c == '\\':
			x.escaped = true
		case c == '"':
			x.inString = false
			return x.ended()
		}
	case c == '"':
		x.inString = true
	case c == '{' || c == '[':
		x.depth++
	case c == '}' || c == ']':
		if x.depth == 0 {
			return extentBehind
		}
		x.depth--
		return x.ended()
	case x.depth > 0:
	case x.scalar && (c == ',' || isSpace(c)):
		return extentBehind
	default:
		x.scalar = true
	}
	return extentInside
}

func (x *jsonExtent) ended() extent {
	if x.depth == 0 {
		return extentLast
	}
	return extentInside
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// jsonLength measures the value that b begins with: perhaps, where it does
// not end in b; no, where b begins with no value.
func jsonLength(b []byte) (int, verdict) {
	var x jsonExtent
	for i, c := range b {
		switch x.next(c) {
		case extentLast:
			return i + 1, yes
		case extentBehind:
			if i == 0 {
				return 0, no
			}
			return i, yes
		}
	}
	return len(b), perhaps
}

// quote is the JSON text of a string, broken characters marked as in any text.
func quote(s string) string { return plainjson.Quote(engine.DecodeText([]byte(s))) }

// escape is the inside of a JSON string. Bytes above ASCII stay as they are,
// so that characters may come in parts.
func escape(b []byte) []byte {
	const hex = "0123456789abcdef"
	out := make([]byte, 0, len(b)+8)
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c < 0x20:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			out = append(out, c)
		}
	}
	return out
}
