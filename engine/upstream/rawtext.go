package upstream

import (
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// rawText is a string of JSON as its bytes, of which some may be a part of a
// character: servers that cut texts at tokens send the rest in the next chunk.
// Half of a surrogate pair is there in the three bytes that UTF-8 would have
// for it (WTF-8).
type rawText string

var errText = errors.New("a string is expected")

// UnmarshalJSON implements [json.Unmarshaler]. The decoder has checked that b
// is JSON.
func (t *rawText) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if len(b) < 2 || b[0] != '"' {
		return errText
	}
	out := make([]byte, 0, len(b))
	for b = b[1 : len(b)-1]; len(b) > 0; {
		if b[0] != '\\' {
			out, b = append(out, b[0]), b[1:]
			continue
		}
		if b[1] != 'u' {
			out, b = append(out, escapes[b[1]]), b[2:]
			continue
		}
		n, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
		out, b = appendUnit(out, rune(n)), b[6:]
	}
	*t = rawText(out)
	return nil
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

var _ json.Unmarshaler = (*rawText)(nil)

// appendUnit adds a unit of UTF-16.
func appendUnit(b []byte, unit rune) []byte {
	if utf16.IsSurrogate(unit) {
		return append(b, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0xbf, 0x80|byte(unit)&0xbf)
	}
	return utf8.AppendRune(b, unit)
}
