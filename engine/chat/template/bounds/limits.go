package bounds

import (
	"errors"
	"time"
)

// Why a rendering is aborted.
var (
	ErrTimeout = errors.New("the chat template takes too long")
	ErrStuck   = errors.New("an earlier rendering of the chat template has not ended")
	ErrMemory  = errors.New("the chat template takes too much memory")
	ErrBusy    = errors.New("other work took the memory while the chat template was rendered")
	ErrWork    = errors.New("one operation of the chat template takes too long")
	ErrNesting = errors.New("a value of the chat template nests too deeply")
)

// LimitExceeded reports whether a rendering exceeded its own limits.
func LimitExceeded(err error) bool {
	return errors.Is(err, ErrMemory) || errors.Is(err, ErrWork) || errors.Is(err, ErrNesting)
}

const (
	MaxTime    = 10 * time.Second // of a rendering; a large request takes 30 ms
	MaxPrompt  = 64 << 20         // bytes of a rendered prompt
	MaxNesting = 1000             // of a client's JSON, which is walked recursively

	// MaxHeap is how many bytes the heap may grow by during a rendering: a string
	// that doubles in a loop fills the memory long before MaxTime. A prompt takes
	// at most an eighth of it.
	MaxHeap = 512 << 20
)
