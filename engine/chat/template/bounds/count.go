package bounds

import "strings"

const (
	// MaxBytes is more than anything that is counted: sums and products end
	// there.
	MaxBytes = 1 << 50

	// MaxWork bounds what one operation may look at, which is not always paid
	// for with memory: values that are compared, or characters. It is about a
	// tenth of a second.
	MaxWork = 1 << 24
)

// Add is the sum of numbers that are not negative.
func Add(numbers ...int64) int64 {
	sum := int64(0)
	for _, n := range numbers {
		sum = min(sum+min(n, MaxBytes), MaxBytes)
	}
	return sum
}

// Times is the product of two numbers; 0 where one is negative.
func Times(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > MaxBytes/b {
		return MaxBytes
	}
	return a * b
}

// Work says no to an operation that would take too many steps.
func Work(steps int64) error {
	if steps > MaxWork {
		return ErrWork
	}
	return nil
}

// FormatSize is how many bytes a format makes of some values, of which the
// longest has so many. A width is a number in the format, or one of the values.
func FormatSize(format string, word int64, values int) int64 {
	const widest = 1 << 20 // fmt takes no width or precision beyond a million
	wide := int64(0)
	for i, part := range strings.Split(format, "%") {
		if i > 0 && strings.IndexFunc(part, func(r rune) bool { return r == '*' || r >= '1' && r <= '9' }) >= 0 {
			wide++
		}
	}
	places := int64(strings.Count(format, "%") + values) // what is left over is added
	word = Add(Times(word, 12), 512)                     // in hexadecimal, in quotes, or with the names of its parts
	return Add(Times(int64(len(format)), 2), Times(places, word), Times(wide, 2*widest))
}
