package grammar

import (
	"slices"
	"unicode/utf8"
)

const (
	maxRune       = utf8.MaxRune
	surrogateLow  = 0xD800
	surrogateHigh = 0xDFFF
)

// normalize sorts and merges ranges and removes surrogates.
func normalize(ranges []runeRange) []runeRange {
	if normalized(ranges) {
		return ranges
	}
	list := make([]runeRange, 0, len(ranges)+1)
	for _, r := range ranges {
		if r.lo < surrogateLow && r.hi >= surrogateLow {
			list = append(list, runeRange{r.lo, surrogateLow - 1})
			r.lo = surrogateHigh + 1
		}
		if r.lo >= surrogateLow && r.lo <= surrogateHigh {
			r.lo = surrogateHigh + 1
		}
		if r.lo <= r.hi {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b runeRange) int { return int(a.lo - b.lo) })
	out := list[:0]
	for _, r := range list {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

// normalized reports whether normalize would change nothing.
func normalized(ranges []runeRange) bool {
	end := rune(-2)
	for _, r := range ranges {
		if r.lo > r.hi || r.lo <= end+1 || r.hi >= surrogateLow && r.lo <= surrogateHigh {
			return false
		}
		end = r.hi
	}
	return true
}

// subtract returns the characters of a (normalized) that are not in b.
func subtract(a, b []runeRange) []runeRange {
	b = normalize(b)
	out := make([]runeRange, 0, len(a)+len(b))
	for _, r := range a {
		for len(b) > 0 && b[0].hi < r.lo { // nor does it overlap the ranges after r
			b = b[1:]
		}
		for _, cut := range b {
			if cut.lo > r.hi {
				break
			}
			if cut.lo > r.lo {
				out = append(out, runeRange{r.lo, cut.lo - 1})
			}
			r.lo = cut.hi + 1
		}
		if r.lo <= r.hi {
			out = append(out, r)
		}
	}
	return normalize(out)
}

// byteRange is a range of bytes, both ends included.
type byteRange struct{ lo, hi byte }

// byteSequence is a sequence of byte ranges.
type byteSequence struct {
	bytes [utf8.UTFMax]byteRange
	n     int
}

// encode calls emit with byte sequences that together are the UTF-8 encodings of the
// range, which must not contain surrogates.
func (r runeRange) encode(emit func(byteSequence)) {
	// Split where the length of the encoding changes, then so that each trailing byte
	// has a contiguous range.
	for _, end := range [...]rune{0x7F, 0x7FF, 0xFFFF} {
		if r.lo <= end && r.hi > end {
			runeRange{r.lo, end}.encode(emit)
			runeRange{end + 1, r.hi}.encode(emit)
			return
		}
	}
	for bits := 6; bits < 6*utf8.RuneLen(r.hi); bits += 6 {
		mask := rune(1)<<bits - 1
		if r.lo&^mask == r.hi&^mask {
			continue
		}
		if r.lo&mask != 0 {
			runeRange{r.lo, r.lo | mask}.encode(emit)
			runeRange{(r.lo | mask) + 1, r.hi}.encode(emit)
			return
		}
		if r.hi&mask != mask {
			runeRange{r.lo, r.hi&^mask - 1}.encode(emit)
			runeRange{r.hi &^ mask, r.hi}.encode(emit)
			return
		}
	}
	var lo, hi [utf8.UTFMax]byte
	s := byteSequence{n: utf8.EncodeRune(lo[:], r.lo)}
	utf8.EncodeRune(hi[:], r.hi)
	for i := range s.n {
		s.bytes[i] = byteRange{lo[i], hi[i]}
	}
	emit(s)
}

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }
func (s *byteSet) addRange(r byteRange) {
	for b := int(r.lo); b <= int(r.hi); b++ {
		s.add(byte(b))
	}
}

// classesOf computes the equivalence classes of bytes under the sets: the class of each
// byte, and a member of each class.
func classesOf(sets []byteSet) (class [256]uint8, member []byte) {
	n := 1
	for i := range sets {
		if n == 256 {
			break // each byte is a class of its own
		}
		var inside, outside [256]bool // by class
		for b := range 256 {
			if sets[i].has(byte(b)) {
				inside[class[b]] = true
			} else {
				outside[class[b]] = true
			}
		}
		var part [256]uint8 // by class: the new one, of those in the set
		for b := range 256 {
			c := class[b]
			if !sets[i].has(byte(b)) || !inside[c] || !outside[c] {
				continue
			}
			if part[c] == 0 {
				part[c] = uint8(n)
				n++
			}
			class[b] = part[c]
		}
	}
	member = make([]byte, n)
	for b := 255; b >= 0; b-- {
		member[class[b]] = byte(b)
	}
	return class, member
}
