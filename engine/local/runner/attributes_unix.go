//go:build unix

package runner

import "syscall"

// processAttributes keeps a terminal's interrupt from the child, which has requests
// to finish. Pdeathsig is not used: it fires when the thread that started the child
// exits, and leaves no time to remove the socket. See [RunChild] about standard input.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
