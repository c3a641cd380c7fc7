package runner

import "syscall"

// processAttributes keep a terminal's interrupt from reaching a child before
// its requests are done, and let the kernel end it with its parent, should
// it be too stuck to notice.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
