package runner

import (
	"errors"
	"slices"
	"syscall"
)

// exhausted reports whether err is a temporary lack of resources, such as file
// descriptors, on this side of a socket.
func exhausted(err error) bool {
	return slices.ContainsFunc([]error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
		syscall.EAGAIN, // the accept queue is full
	}, func(e error) bool { return errors.Is(err, e) })
}
