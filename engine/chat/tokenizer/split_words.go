package tokenizer

// Pre-tokenizers that most models use or start with.

// words2 is GPT-2's:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func words2(t *text, i int) int {
	if to := contraction(t, i, false); to > i {
		return to
	}
	r, c, next := t.at(i)
	start := i
	if r == ' ' {
		if follows := t.class(next); follows != none && !follows.is(space) {
			start, c = next, follows
		}
	}
	switch {
	case c.is(letter):
		return t.skip(start, letter)
	case c.is(number):
		return t.skip(start, number)
	case !c.is(space):
		return signsEnd(t, start)
	}
	return spaces(t, i, false)
}

// words3 is that of Llama 3 and many others, with at most digits digits in a word:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// lines: symbols include the newlines that follow.
func words3(digits int, lines bool) match {
	return func(t *text, i int) int {
		if to := contraction(t, i, true); to > i {
			return to
		}
		r, c, next := t.at(i)
		if !isLine(r) && !c.is(number) {
			if c.is(letter) || t.class(next).is(letter) {
				return t.skip(next, letter)
			}
		}
		return signsAndSpaces(t, i, digits, lines, "")
	}
}

// signsAndSpaces matches everything but words of letters.
func signsAndSpaces(t *text, i, digits int, lines bool, behind string) int {
	r, c, next := t.at(i)
	if c.is(number) {
		return upTo(t, i, digits, number)
	}
	start := i
	if r == ' ' {
		start, c = next, t.class(next)
	}
	if c == none || c.is(space|letter|number) {
		return spaces(t, i, true)
	}
	to := signsEnd(t, start)
	for lines {
		r, _, next := t.at(to)
		if !isLine(r) && (r < 0 || !contains(behind, r)) {
			break
		}
		to = next
	}
	return to
}

func contains(s string, r rune) bool {
	for _, c := range s {
		if c == r {
			return true
		}
	}
	return false
}

// signsEnd is the end of a run of symbols: [^\s\p{L}\p{N}]*.
func signsEnd(t *text, i int) int {
	for {
		_, c, next := t.at(i)
		if c == none || c.is(space|letter|number) {
			return i
		}
		i = next
	}
}

func isLine(r rune) bool { return r == '\r' || r == '\n' }

// spaces matches \s*[\r\n]+ if lines is set, then \s+(?!\S)|\s+. Another character is a
// word of its own.
func spaces(t *text, i int, lines bool) int {
	lineEnd, last := -1, i
	at := i
	for {
		r, c, next := t.at(at)
		if !c.is(space) {
			break
		}
		if isLine(r) {
			lineEnd = next
		}
		last, at = at, next
	}
	switch {
	case lines && lineEnd >= 0:
		return lineEnd
	case at == i:
		_, _, next := t.at(i)
		return next
	case last > i && at < t.end:
		return last
	}
	return at
}

// upTo is the end of at most n characters in set.
func upTo(t *text, i, n int, set class) int {
	for ; n > 0; n-- {
		_, c, next := t.at(i)
		if !c.is(set) {
			break
		}
		i = next
	}
	return i
}

// contraction is the end of 's, 't, 're, 've, 'm, 'll or 'd at i, or i.
func contraction(t *text, i int, anyCase bool) int {
	if i+1 >= t.end || t.s[i] != '\'' {
		return i
	}
	fold := func(b byte) byte {
		if anyCase && b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		return b
	}
	first := fold(t.s[i+1])
	switch first {
	case 's', 't', 'm', 'd':
		return i + 2
	}
	if i+2 >= t.end {
		return i
	}
	second := fold(t.s[i+2])
	if first == 'r' && second == 'e' || first == 'v' && second == 'e' || first == 'l' && second == 'l' {
		return i + 3
	}
	return i
}

// each splits off every character in set.
func each(set class) pass {
	return here(func(t *text, i int) int {
		if _, c, next := t.at(i); c.is(set) {
			return next
		}
		return i
	})
}

// groups splits numbers into groups of at most n digits.
func groups(n int) pass {
	return here(func(t *text, i int) int { return upTo(t, i, n, number) })
}

// signs matches punctuation and more characters.
func signs(more string) match {
	return func(t *text, i int) int {
		for {
			r, c, next := t.at(i)
			if !c.is(punctuation) && (r < 0 || !contains(more, r)) {
				return i
			}
			i = next
		}
	}
}

// numbers matches \p{N}+.
func numbers(t *text, i int) int { return t.skip(i, number) }

// threeDigits matches [0-9][0-9][0-9].
func threeDigits(t *text, i int) int {
	if i+3 > t.end {
		return i
	}
	for _, b := range []byte(t.s[i : i+3]) {
		if b < '0' || b > '9' {
			return i
		}
	}
	return i + 3
}

// wordsBloom matches " ?[^(\s|.,!?…。，、।۔،)]+".
func wordsBloom(t *text, i int) int {
	inside := func(i int) (int, bool) {
		r, c, next := t.at(i)
		return next, r >= 0 && !c.is(space) && !contains("(|.,!?…。，、।۔،)", r)
	}
	start := i
	if r, _, next := t.at(i); r == ' ' {
		start = next
	}
	at := start
	for {
		next, ok := inside(at)
		if !ok {
			break
		}
		at = next
	}
	if at == start {
		return i
	}
	return at
}

// runs matches a run of characters. They never include white space, which llama.cpp
// replaces before it runs these expressions.
func runs(in func(r rune) bool) match {
	return func(t *text, i int) int {
		for {
			r, c, next := t.at(i)
			if c == none || c.is(space) || !in(r) {
				return i
			}
			i = next
		}
	}
}

// oneOf reports whether a character is in one of the ranges.
func oneOf(ranges [][2]rune) func(r rune) bool {
	return func(r rune) bool {
		for _, x := range ranges {
			if r >= x[0] && r <= x[1] {
				return true
			}
		}
		return false
	}
}
