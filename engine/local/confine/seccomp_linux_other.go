//go:build linux && !amd64 && !arm64

package confine

import "errors"

func refuseCalls(int) error {
	return errors.New("the numbers of system calls are not known for this architecture")
}

func hasSeccomp() bool { return false }
