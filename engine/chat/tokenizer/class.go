package tokenizer

import "unicode"

// class is what a pre-tokenizer asks of a character: one category, and whether
// it is white space.
type class uint8

const (
	letter class = 1 << iota
	number
	mark
	punctuation
	symbol
	control // and what is reserved for private use
	space   // beside the category
	other   // none of these: separators, and what is not assigned

	// none is the class of the place behind a text.
	none class = 0
)

// is reports whether c is of one of the classes of set.
func (c class) is(set class) bool { return c&set != 0 }

// tableSize is up to where characters have their classes in a table. What is
// beyond is rare.
const tableSize = 0x34000

// classes tells the class of each character.
type classes []class

func newClasses() classes {
	c := make(classes, tableSize)
	for r := range c {
		c[r] = classify(rune(r))
	}
	return c
}

func (c classes) of(r rune) class {
	if r < tableSize {
		return c[r]
	}
	return classify(r)
}

// classify is by Unicode 15.0, the version that llama.cpp's tables are of.
func classify(r rune) class {
	if unicode.Is(assignedLater, r) {
		return other
	}
	c := other
	switch {
	case unicode.Is(unicode.L, r):
		c = letter
	case unicode.Is(unicode.N, r):
		c = number
	case unicode.Is(unicode.M, r):
		c = mark
	case unicode.Is(unicode.P, r):
		c = punctuation
	case unicode.Is(unicode.S, r):
		c = symbol
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
		c = control
	}
	if unicode.IsSpace(r) {
		c |= space
	}
	return c
}

// assignedLater are the characters that later versions than 15.0 have.
var assignedLater = tableOf([][2]uint32{
	{0x88f, 0x88f}, {0x897, 0x897}, {0xc5c, 0xc5c}, {0xcdc, 0xcdc}, {0x1acf, 0x1add}, {0x1ae0, 0x1aeb},
	{0x1b4e, 0x1b4f}, {0x1b7f, 0x1b7f}, {0x1c89, 0x1c8a}, {0x20c1, 0x20c1}, {0x2427, 0x2429}, {0x2b96, 0x2b96},
	{0x31e4, 0x31e5}, {0xa7cb, 0xa7cf}, {0xa7d2, 0xa7d2}, {0xa7d4, 0xa7d4}, {0xa7da, 0xa7dc}, {0xa7f1, 0xa7f1},
	{0xfbc3, 0xfbd2}, {0xfd90, 0xfd91}, {0xfdc8, 0xfdce}, {0x105c0, 0x105f3}, {0x10940, 0x10959}, {0x10d40, 0x10d65},
	{0x10d69, 0x10d85}, {0x10d8e, 0x10d8f}, {0x10ec2, 0x10ec7}, {0x10ed0, 0x10ed8}, {0x10efa, 0x10efc},
	{0x11380, 0x11389}, {0x1138b, 0x1138b}, {0x1138e, 0x1138e}, {0x11390, 0x113b5}, {0x113b7, 0x113c0},
	{0x113c2, 0x113c2}, {0x113c5, 0x113c5}, {0x113c7, 0x113ca}, {0x113cc, 0x113d5}, {0x113d7, 0x113d8},
	{0x113e1, 0x113e2}, {0x116d0, 0x116e3}, {0x11b60, 0x11b67}, {0x11bc0, 0x11be1}, {0x11bf0, 0x11bf9},
	{0x11db0, 0x11ddb}, {0x11de0, 0x11de9}, {0x11f5a, 0x11f5a}, {0x13460, 0x143fa}, {0x16100, 0x16139},
	{0x16d40, 0x16d79}, {0x16ea0, 0x16eb8}, {0x16ebb, 0x16ed3}, {0x16ff2, 0x16ff6}, {0x187f8, 0x187ff},
	{0x18cff, 0x18cff}, {0x18d09, 0x18d1e}, {0x18d80, 0x18df2}, {0x1cc00, 0x1ccfc}, {0x1cd00, 0x1ceb3},
	{0x1ceba, 0x1ced0}, {0x1cee0, 0x1cef0}, {0x1e5d0, 0x1e5fa}, {0x1e5ff, 0x1e5ff}, {0x1e6c0, 0x1e6de},
	{0x1e6e0, 0x1e6f5}, {0x1e6fe, 0x1e6ff}, {0x1f6d8, 0x1f6d8}, {0x1f777, 0x1f77a}, {0x1f8b2, 0x1f8bb},
	{0x1f8c0, 0x1f8c1}, {0x1f8d0, 0x1f8d8}, {0x1fa54, 0x1fa57}, {0x1fa89, 0x1fa8a}, {0x1fa8e, 0x1fa8f},
	{0x1fabe, 0x1fabe}, {0x1fac6, 0x1fac6}, {0x1fac8, 0x1fac8}, {0x1facd, 0x1facd}, {0x1fadc, 0x1fadc},
	{0x1fadf, 0x1fadf}, {0x1fae9, 0x1faea}, {0x1faef, 0x1faef}, {0x1fbcb, 0x1fbef}, {0x1fbfa, 0x1fbfa},
	{0x2b73a, 0x2b73f}, {0x2cea2, 0x2cead}, {0x323b0, 0x33479},
})

func tableOf(ranges [][2]uint32) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	for _, r := range ranges {
		if r[1] <= 0xffff {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(r[0]), Hi: uint16(r[1]), Stride: 1})
			continue
		}
		t.R32 = append(t.R32, unicode.Range32{Lo: r[0], Hi: r[1], Stride: 1})
	}
	return t
}
