package bounds

import "errors"

// Why a rendering ends before it is done.
var (
	ErrSlow    = errors.New("the chat template takes too long")
	ErrStuck   = errors.New("an earlier rendering of the chat template has not ended")
	ErrHeap    = errors.New("the chat template takes too much memory")
	ErrCrowded = errors.New("others took the memory while the chat template was rendered")
	ErrWork    = errors.New("one operation of the chat template takes too long")
	ErrDeep    = errors.New("a value of the chat template nests too deeply")
)

// TookTooMuch reports whether a rendering ended for what it would have taken.
func TookTooMuch(err error) bool {
	return errors.Is(err, ErrHeap) || errors.Is(err, ErrWork) || errors.Is(err, ErrDeep)
}
