//go:build !unix

package runner

import "syscall"

// processAttributes is nil: there are no process groups.
func processAttributes() *syscall.SysProcAttr { return nil }
