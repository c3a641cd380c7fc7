// Package exit has the exit statuses of every command, and the errors that end with
// them.
package exit

import (
	"context"
	"errors"
	"fmt"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/store"
)

// The exit statuses of every command, as "diglot help exit-codes" lists them.
const (
	Failure     = 1
	BadUsage    = 2
	NotFound    = 3
	NoServer    = 4
	Interrupted = 130 // as a shell says of a program that SIGINT ended
)

// usageError is a mistake on the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// Usage is the error of a command line that makes no sense.
func Usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// Status is the status for what a command returned.
func Status(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return BadUsage
	case errors.Is(err, store.ErrNotFound), HasCode(err, engine.CodeModelNotFound):
		return NotFound
	case errors.Is(err, control.ErrNotRunning):
		return NoServer
	case errors.Is(err, context.Canceled), errors.Is(err, terminal.ErrInterrupted):
		return Interrupted
	}
	return Failure
}

// HasCode reports whether the engine, or the server, refused with code.
func HasCode(err error, code engine.Code) bool {
	var own *engine.Error
	var sent *control.Error
	return errors.As(err, &own) && own.Code == code || errors.As(err, &sent) && sent.Code == code
}
