package format

import (
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/plainjson"
)

// jsonExtent finds the end of a JSON value, one byte at a time. It tracks strings
// and brackets and does not validate.
type jsonExtent struct {
	depth    int
	inString bool
	escaped  bool
	scalar   bool // a number or literal, ended by the byte after it
}

// extent is the position of a byte in a value.
type extent int

const (
	extentInside extent = iota
	extentLast          // the last byte of the value
	extentBehind        // after the value
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

// jsonLength is the length of the JSON value at the start of b; perhaps: it is
// incomplete; no: there is none.
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

// quote is a string as JSON, with U+FFFD for invalid UTF-8.
func quote(s string) string { return plainjson.Quote(engine.DecodeText([]byte(s))) }

// escape escapes bytes for a JSON string. It keeps bytes above ASCII, because
// characters may be split between tokens.
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
