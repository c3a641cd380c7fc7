package upstream

import (
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
)

// rawText is a JSON string that may have incomplete characters: servers that
// split text at tokens send the rest in the next chunk. A lone surrogate is
// encoded in three bytes, as in WTF-8.
type rawText string

var errText = errors.New("not a string")

// UnmarshalJSON implements [json.Unmarshaler]. b is valid JSON.
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

// appendUnit appends a UTF-16 code unit.
func appendUnit(b []byte, unit rune) []byte {
	if utf16.IsSurrogate(unit) {
		return append(b, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0xbf, 0x80|byte(unit)&0xbf)
	}
	return utf8.AppendRune(b, unit)
}

// joiner joins fragments that may split characters. A character that stays
// incomplete becomes one U+FFFD, as in [engine.DecodeText].
type joiner struct{ held []byte }

// add returns the complete characters so far.
func (j *joiner) add(piece rawText) string {
	if len(j.held) == 0 && utf8.ValidString(string(piece)) {
		return string(piece)
	}
	j.held = append(j.held, piece...)
	return j.take(false)
}

// rest returns what is left at the end.
func (j *joiner) rest() string { return j.take(true) }

func (j *joiner) take(final bool) string {
	b := j.held
	var out []byte
	for len(b) > 0 {
		r, size := surrogates(b, final)
		if size == 0 && r == utf8.RuneError {
			break // the other half may come
		}
		if size > 0 {
			out, b = utf8.AppendRune(out, r), b[size:]
			continue
		}
		if !final && engine.WholeChars(b) == 0 {
			break
		}
		size, ok := engine.FirstChar(b)
		if ok {
			out = append(out, b[:size]...)
		} else {
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		b = b[size:]
	}
	j.held = append(j.held[:0], b...)
	return string(out)
}

// surrogates decodes the surrogate pair at the start of b; a lone surrogate
// becomes U+FFFD. If size is 0, r is U+FFFD if more bytes may complete a pair,
// and 0 if there is none.
func surrogates(b []byte, final bool) (r rune, size int) {
	first, ok := half(b)
	if !ok {
		if !final && len(b) < 3 && b[0] == 0xed && (len(b) == 1 || b[1] >= 0xa0) {
			return utf8.RuneError, 0
		}
		return 0, 0
	}
	second, ok := half(b[3:])
	if ok && utf16.DecodeRune(first, second) != utf8.RuneError {
		return utf16.DecodeRune(first, second), 6
	}
	if !ok && !final && first < 0xdc00 && len(b) < 6 && (len(b) == 3 || b[3] == 0xed) {
		return utf8.RuneError, 0
	}
	return utf8.RuneError, 3
}

// half decodes the surrogate at the start of b.
func half(b []byte) (rune, bool) {
	if len(b) < 3 || b[0] != 0xed || b[1] < 0xa0 || b[1] > 0xbf || b[2]&0xc0 != 0x80 {
		return 0, false
	}
	return rune(b[0]&0xf)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), true
}
