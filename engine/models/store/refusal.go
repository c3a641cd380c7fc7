package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

var (
	// ErrNotFound is in the error for a model that the store does not have.
	ErrNotFound = errors.New("no such model")

	// ErrReadOnly is in the error of every verb that would write a store that
	// cannot be written.
	ErrReadOnly = errors.New("the model store cannot be written")

	// ErrDigest is in the error for content that is not what its digest says.
	ErrDigest = errors.New("the content does not have its digest")
)

func notFound(n Name) error { return fmt.Errorf("model %s: %w", n, ErrNotFound) }

// writable is the error of every writing verb of a store that was opened for
// reading alone.
func (s *Store) writable() error {
	if s.readOnly {
		return fmt.Errorf("%w: %s was opened for reading alone", ErrReadOnly, s.dir)
	}
	return nil
}

// explain makes the error for a write that the system refused one that says
// what to do.
func (s *Store) explain(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return &readOnlyError{dir: s.dir, cause: err}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s: there is no space left for the model store %s: remove models, or choose a folder on another disk (%w)", doing, s.dir, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// readOnlyError is for a store that the system lets nobody write, or not this
// user. Its cause names a file that the user has never seen.
type readOnlyError struct {
	dir   string
	cause error
}

func (e *readOnlyError) Error() string {
	return "the model store " + e.dir + " may only be read by this user: its models can be served, but not changed"
}

func (e *readOnlyError) Unwrap() []error { return []error{ErrReadOnly, e.cause} }

// isGone says that a path has no file at its end, be it that it goes on below
// another file.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
