package confine

import "golang.org/x/sys/unix"

const (
	architecture = unix.AUDIT_ARCH_X86_64
	secondSet    = 0x40000000 // from here on the same calls have a second number
)

// refusedHere are calls that the other architecture has not, mostly because it
// has a newer form of them alone.
func refusedHere() []uint32 {
	return []uint32{
		unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_CREAT, unix.SYS_MKDIR, unix.SYS_MKNOD, unix.SYS_LINK, unix.SYS_SYMLINK, unix.SYS_RENAME,
		unix.SYS_RENAMEAT, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
		unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB,
	}
}

// here are calls of this architecture that depend on their arguments.
func (p *program) here() { p.bits(unix.SYS_OPEN, 1, writing, false) }
