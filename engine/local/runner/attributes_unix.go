//go:build unix

package runner

import "syscall"

// processAttributes keep a terminal's interrupt from reaching a child before
// its requests are done. Linux could also signal a child when its parent
// ends, but does so when the thread that started it ends, and leaves the
// child no time to remove its socket; the end of standard input does better.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
