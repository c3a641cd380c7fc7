//go:build unix && !linux

package runner

import "syscall"

// processAttributes keep a terminal's interrupt from reaching a child before
// its requests are done.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
