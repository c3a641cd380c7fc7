package plainjson

import "bytes"

// Count is how many values a text of JSON holds, objects and lists with those in
// them, and how many names of members, or a few more. What is decoded of a text
// may take many times the bytes of it, as {} stands for a whole structure; so this
// is counted before, in one pass and without memory. Of what is no JSON it is
// some number.
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

// Values is how many values a text holds, as [Count] has it.
func Values(text []byte) int {
	values, _ := Count(text)
	return values
}

// stringLength is how many bytes follow the first quote of a string, with the last
// quote.
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
