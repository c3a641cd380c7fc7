package confine

import "golang.org/x/sys/unix"

const (
	architecture = unix.AUDIT_ARCH_AARCH64
	secondSet    = 0xffffffff // there is none
)

// refusedHere are calls that the other architecture has not.
func refusedHere() []uint32 { return []uint32{unix.SYS_RENAMEAT} }

// here are calls of this architecture that depend on their arguments.
func (p *program) here() {}
