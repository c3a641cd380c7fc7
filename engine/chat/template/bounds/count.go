package bounds

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
