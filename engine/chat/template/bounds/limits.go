package bounds

import (
	"errors"
	"time"
)

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

const (
	MaxTime    = 10 * time.Second // of a rendering; a big request takes 30 ms
	MaxPrompt  = 64 << 20         // bytes of a rendered prompt
	MaxNesting = 1000             // of a client's JSON; the walk over it recurses

	// MaxHeap is how many bytes the heap may grow by while a template is
	// rendered: a text that is put to itself in a loop doubles with each step,
	// and would fill the memory long before it has run out of time. Prompts
	// have at most an eighth of it.
	MaxHeap = 512 << 20
)
