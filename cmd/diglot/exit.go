package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/store"
)

// The exit statuses of every command, as newExitCodes documents them.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitNoServer    = 4
	exitInterrupted = 130 // as a shell says of a program that SIGINT ended
)

// usageError is a mistake on the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func wrongUsage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// exitStatus is the status for what a command returned.
func exitStatus(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, store.ErrNotFound), hasCode(err, engine.CodeModelNotFound):
		return exitNotFound
	case errors.Is(err, control.ErrNotRunning):
		return exitNoServer
	case errors.Is(err, context.Canceled), errors.Is(err, terminal.ErrInterrupted):
		return exitInterrupted
	}
	return exitFailure
}

// hasCode reports whether the engine, or the server, refused with code.
func hasCode(err error, code engine.Code) bool {
	var own *engine.Error
	var sent *control.Error
	return errors.As(err, &own) && own.Code == code || errors.As(err, &sent) && sent.Code == code
}

// newExitCodes is a page of help.
func newExitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit status of a command means",
		Long: `Every command ends with one of these statuses:

  0    it did what it was asked to
  1    it failed; standard error says why
  2    the command line makes no sense, or a name in it is no model's name
  3    there is no such model
  4    the command needs a running server, and there is none
  130  it was interrupted, by Ctrl-C or a signal`,
	}
}
