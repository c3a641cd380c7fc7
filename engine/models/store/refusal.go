package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

var (
	// ErrNotFound is wrapped by the error for a missing model.
	ErrNotFound = errors.New("no such model")

	// ErrReadOnly is wrapped by the error of a write to a read-only store.
	ErrReadOnly = errors.New("the model store is read-only")

	// ErrDigest is wrapped by the error for content with another digest.
	ErrDigest = errors.New("digest mismatch")
)

func notFound(n Name) error { return fmt.Errorf("model %s: %w", n, ErrNotFound) }

// writable fails for a store that was opened read-only.
func (s *Store) writable() error {
	if s.readOnly {
		return fmt.Errorf("%w: %s was opened read-only", ErrReadOnly, s.dir)
	}
	return nil
}

// explain adds to the error of a failed write what the user can do.
func (s *Store) explain(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return &readOnlyError{dir: s.dir, cause: err}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s: no space left for the model store %s: remove models, or move it to another disk (%w)", doing, s.dir, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// readOnlyError is for a store without write permission. Its text omits the
// cause, which names an internal file.
type readOnlyError struct {
	dir   string
	cause error
}

func (e *readOnlyError) Error() string {
	return "the model store " + e.dir + " is read-only for this user: its models can be served, but not changed"
}

func (e *readOnlyError) Unwrap() []error { return []error{ErrReadOnly, e.cause} }

// isGone reports whether a path does not exist, also if a parent is a file.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
