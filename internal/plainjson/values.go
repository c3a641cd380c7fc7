package plainjson

import "bytes"

// Count counts the values and the field names of a JSON text, or slightly more, in
// one pass without allocation. It is called before decoding, because a decoded
// value can take far more memory than its text. For invalid JSON the result is
// arbitrary.
func Count(text []byte) (values, names int) {
	values = 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[', ',':
			values++
		case ':':
			names++
		case '"':
			i += stringLength(text[i+1:])
		}
	}
	return values, names
}

// Values is the number of values of [Count].
func Values(text []byte) int {
	values, _ := Count(text)
	return values
}

// stringLength is the length of a string after its opening quote, including the
// closing quote.
func stringLength(text []byte) int {
	at := 0
	for {
		end := bytes.IndexByte(text[at:], '"')
		if end < 0 {
			return len(text)
		}
		at += end + 1
		escapes := 0
		for at-2-escapes >= 0 && text[at-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}
}
