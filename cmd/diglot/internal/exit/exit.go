// Package exit maps errors to the exit codes of commands.
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

// The exit codes of every command, documented by "diglot help exit-codes".
const (
	Failure     = 1
	BadUsage    = 2
	NotFound    = 3
	NoServer    = 4
	Interrupted = 130 // a shell's 128 + SIGINT
)

// usageError is an invalid command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// Usage is the error for an invalid command line.
func Usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// codedError is an error with a code of its own.
type codedError struct {
	error
	code int
}

func (e *codedError) Unwrap() error { return e.error }

// Failed is the error for a command that did its work, whose outcome is a failure.
func Failed(format string, args ...any) error {
	return &codedError{fmt.Errorf(format, args...), Failure}
}

// Missing is the error for a model that a server does not have.
func Missing(format string, args ...any) error {
	return &codedError{fmt.Errorf(format, args...), NotFound}
}

// Unreachable is the error for a server that does not answer.
func Unreachable(format string, args ...any) error {
	return &codedError{fmt.Errorf(format, args...), NoServer}
}

// Status is the exit code for the error of a command.
func Status(err error) int {
	var usage *usageError
	var coded *codedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.code
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

// HasCode reports whether err has code, in this process or from the server.
func HasCode(err error, code engine.Code) bool {
	var own *engine.Error
	var sent *control.Error
	return errors.As(err, &own) && own.Code == code || errors.As(err, &sent) && sent.Code == code
}
