//go:build !unix

package runner

import "syscall"

// processAttributes has nothing to ask for where there are no process groups.
func processAttributes() *syscall.SysProcAttr { return nil }
