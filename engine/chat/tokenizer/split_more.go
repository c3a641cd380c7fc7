package tokenizer

// Pre-tokenizers of fewer models.

// cased is that of Tekken and GPT-4o: words are upper-case, then lower-case letters. A
// letter that is not ASCII counts as both.
//
//	[^\r\n\p{L}\p{N}]?U*L+|[^\r\n\p{L}\p{N}]?U+L*|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// suffixes reports whether 's, 't and so on belong to the word before them.
func cased(digits int, suffixes bool) match {
	return func(t *text, i int) int {
		r, c, next := t.at(i)
		start := i
		if !isLine(r) && !c.is(letter|number) {
			start = next
		}
		to := casedWord(t, start)
		switch {
		case to == start:
			return signsAndSpaces(t, i, digits, true, "/")
		case suffixes:
			return contraction(t, to, true)
		}
		return to
	}
}

// casedWord matches U*L+|U+L*.
func casedWord(t *text, start int) int {
	both := -1 // end of the last letter that is not ASCII
	at := start
	for {
		r, c, next := t.at(at)
		if !c.is(letter) || r >= 'a' && r <= 'z' {
			break
		}
		if r > 'Z' {
			both = next
		}
		at = next
	}
	if !t.class(at).is(letter) {
		if both >= 0 {
			return both
		}
		return at
	}
	for {
		r, c, next := t.at(at)
		if !c.is(letter) || r >= 'A' && r <= 'Z' {
			return at
		}
		at = next
	}
}

// wordsKimi is Kimi K2's: Han characters are words of their own.
func wordsKimi(t *text, i int) int {
	if to := runs(isHan)(t, i); to > i {
		return to
	}
	start := i
	r, c, next := t.at(i)
	if !isLine(r) && !c.is(letter|number) {
		start = next
	}
	to := start
	for {
		r, c, next := t.at(to)
		if !c.is(letter) || isHan(r) {
			break
		}
		to = next
	}
	if to > start {
		return contraction(t, to, true)
	}
	return signsAndSpaces(t, i, 3, true, "")
}

func isHan(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff:
		return true
	}
	return r >= 0x20000 && r <= 0x2a6df || r >= 0x2a700 && r <= 0x2ebef || r >= 0x2f800 && r <= 0x2fa1f
}

// wordsMarked is DeepSeek V3's, in which marks belong to words and a symbol to the
// letters after it:
//
//	[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// llama.cpp does not count ~ among the symbols here.
func wordsMarked(t *text, i int) int {
	r, c, next := t.at(i)
	isSign := func(r rune, c class) bool { return c.is(punctuation) || c.is(symbol) && r != '~' }
	if isASCIISign(r) && next < t.end && isASCIILetter(t.s[next]) {
		for next < t.end && isASCIILetter(t.s[next]) {
			next++
		}
		return next
	}
	switch {
	case c.is(letter | mark):
		return t.skip(i, letter|mark)
	case !isLine(r) && !isSign(r, c) && t.class(next).is(letter|mark):
		return t.skip(next, letter|mark)
	}
	start := i
	if r == ' ' {
		start = next
	}
	to := start
	for {
		r, c, next := t.at(to)
		if !isSign(r, c) {
			break
		}
		to = next
	}
	if to == start {
		if c.is(space) {
			return spaces(t, i, true)
		}
		return i
	}
	for to < t.end && isLine(rune(t.s[to])) {
		to++
	}
	return to
}

func isASCIISign(r rune) bool {
	return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

func isASCIILetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// afmoeDigits splits numbers into groups of three, from the end. Like llama.cpp it keeps
// the text before a number with its first group.
func afmoeDigits(t *text, yield func(end int) bool) bool {
	done := t.start
	for i := t.start; i < t.end; {
		if !t.class(i).is(number) {
			_, _, i = t.at(i)
			continue
		}
		digits := 0
		for at := i; t.class(at).is(number); digits++ {
			_, _, at = t.at(at)
		}
		for ; digits > 0; digits = (digits - 1) / 3 * 3 {
			if i = upTo(t, i, (digits-1)%3+1, number); !yield(i) {
				return false
			}
			done = i
		}
	}
	return done == t.end || yield(t.end)
}

// thousands splits digits into groups of three, from the end: (?=(\d{3})+(?!\d)).
func thousands(t *text, yield func(end int) bool) bool {
	done := t.start
	for i := t.start; i < t.end; {
		end := i
		for end < t.end && t.s[end] >= '0' && t.s[end] <= '9' {
			end++
		}
		if end == i {
			i++
			continue
		}
		for at := end - (end-i)/3*3; at < end; at += 3 {
			if at > done && !yield(at) {
				return false
			}
			done = max(done, at)
		}
		i = end
	}
	return done == t.end || yield(t.end)
}

// deepseekLLM is that of DeepSeek LLM.
func deepseekLLM() splitter {
	spaced := func(in func(rune) bool) pass {
		return here(func(t *text, i int) int {
			start := i
			if _, c, next := t.at(i); c.is(space) {
				start = next
			}
			if to := runs(in)(t, start); to > start {
				return to
			}
			return i
		})
	}
	trailing := func(t *text, yield func(end int) bool) bool {
		start := t.end
		for i := t.start; i < t.end; {
			_, c, next := t.at(i)
			switch {
			case !c.is(space):
				start = t.end
			case start == t.end:
				start = i
			}
			i = next
		}
		return (start == t.start || start == t.end || yield(start)) && yield(t.end)
	}
	return splitter{
		here(lineEnd), spaced(oneOf(deepseekLetters)), spaced(oneOf(deepseekSigns)), trailing,
		here(runs(oneOf(deepseekEastern))), here(numbers),
	}
}

// deepseekCoder is that of DeepSeek Coder.
func deepseekCoder() splitter {
	spaced := func(set class) pass {
		return here(func(t *text, i int) int {
			start := i
			if _, c, next := t.at(i); c.is(space) {
				start = next
			}
			if to := t.skip(start, set); to > start {
				return to
			}
			return i
		})
	}
	return splitter{here(lineEnd), spaced(letter), spaced(punctuation), here(runs(oneOf(deepseekEastern))), each(number)}
}

func lineEnd(t *text, i int) int {
	if isLine(rune(t.s[i])) {
		return i + 1
	}
	return i
}

// chameleonSentinel matches <sentinel:[0-9]+>.
func chameleonSentinel(t *text, i int) int {
	const start = "<sentinel:"
	if t.end-i < len(start) || t.s[i:i+len(start)] != start {
		return i
	}
	at := i + len(start)
	for at < t.end && t.s[at] >= '0' && t.s[at] <= '9' {
		at++
	}
	if at == i+len(start) || at == t.end || t.s[at] != '>' {
		return i
	}
	return at + 1
}

// chameleonImage matches IMGIMG[A-I]{1,4}Z.
func chameleonImage(t *text, i int) int {
	const start = "IMGIMG"
	if t.end-i < len(start) || t.s[i:i+len(start)] != start {
		return i
	}
	first := i + len(start)
	at := first
	for at < t.end && at < first+4 && t.s[at] >= 'A' && t.s[at] <= 'I' {
		at++
	}
	if at == first || at == t.end || t.s[at] != 'Z' {
		return i
	}
	return at + 1
}

// chameleonSpace matches a tab, a newline, four spaces or two.
func chameleonSpace(t *text, i int) int {
	if t.s[i] == '\t' || t.s[i] == '\n' {
		return i + 1
	}
	n := 0
	for i+n < t.end && n < 4 && t.s[i+n] == ' ' {
		n++
	}
	return i + n&^1
}

// chameleonSign matches one symbol.
func chameleonSign(t *text, i int) int {
	if r, c, next := t.at(i); c.is(punctuation) || isASCIISign(r) {
		return next
	}
	return i
}
