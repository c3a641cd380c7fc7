package confine

import "golang.org/x/sys/unix"

const (
	architecture = unix.AUDIT_ARCH_AARCH64
	secondSet    = 0xffffffff // no second ABI
)

// refusedHere are calls that only this list has.
func refusedHere() []uint32 { return []uint32{unix.SYS_RENAMEAT} }

// architectureRules are calls that depend on their arguments.
func (p *program) architectureRules() {}
