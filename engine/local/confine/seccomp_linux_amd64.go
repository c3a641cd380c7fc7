package confine

import "golang.org/x/sys/unix"

const (
	architecture = unix.AUDIT_ARCH_X86_64
	secondSet    = 0x40000000 // the x32 ABI
)

// refusedHere are calls that arm64 lacks, most of them legacy.
func refusedHere() []uint32 {
	return []uint32{
		unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_CREAT, unix.SYS_MKDIR, unix.SYS_MKNOD, unix.SYS_LINK, unix.SYS_SYMLINK, unix.SYS_RENAME,
		unix.SYS_RENAMEAT, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
		unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB,
	}
}

// architectureRules are calls that depend on their arguments.
func (p *program) architectureRules() { p.bits(unix.SYS_OPEN, 1, writing, false) }
