//go:build linux && !amd64 && !arm64

package confine

import "errors"

func installFilter(int) error {
	return errors.New("seccomp is not supported on this architecture")
}

func hasSeccomp() bool { return false }
