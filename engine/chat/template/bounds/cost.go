package bounds

import "strings"

const (
	// MaxBytes is where sums and products saturate.
	MaxBytes = 1 << 50

	// MaxWork limits the values or characters that one operation may visit, since
	// a comparison, for instance, takes time but no memory. It is about 0.1 s.
	MaxWork = 1 << 24
)

// Add is the saturating sum of non-negative numbers.
func Add(numbers ...int64) int64 {
	sum := int64(0)
	for _, n := range numbers {
		sum = min(sum+min(n, MaxBytes), MaxBytes)
	}
	return sum
}

// Times is the saturating product of two numbers; 0 if one is negative.
func Times(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > MaxBytes/b {
		return MaxBytes
	}
	return a * b
}

// Work returns ErrWork for an operation of too many steps.
func Work(steps int64) error {
	if steps > MaxWork {
		return ErrWork
	}
	return nil
}

// FormatSize is an upper bound of the bytes that a printf format makes of some
// values, the longest of which has word bytes. A width is a number in the format,
// or one of the values.
func FormatSize(format string, word int64, values int) int64 {
	const widest = 1 << 20 // fmt takes no width or precision beyond a million
	wide := int64(0)
	for i, part := range strings.Split(format, "%") {
		if i > 0 && strings.IndexFunc(part, func(r rune) bool { return r == '*' || r >= '1' && r <= '9' }) >= 0 {
			wide++
		}
	}
	places := int64(strings.Count(format, "%") + values) // fmt appends extra values
	word = Add(Times(word, 12), 512)                     // in hexadecimal, quoted, or with field names
	return Add(Times(int64(len(format)), 2), Times(places, word), Times(wide, 2*widest))
}
