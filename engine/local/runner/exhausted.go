package runner

import (
	"errors"
	"slices"
	"syscall"
)

// exhausted reports whether an error is that of a system which is out of
// something for a moment, files first among them. It says nothing about the
// process at the other end of a socket.
func exhausted(err error) bool {
	return slices.ContainsFunc([]error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
		syscall.EAGAIN, // the socket's queue is full
	}, func(e error) bool { return errors.Is(err, e) })
}
