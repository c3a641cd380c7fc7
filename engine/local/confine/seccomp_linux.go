//go:build amd64 || arm64

package confine

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data. Both architectures are little-endian.
const (
	dataCall = 0
	dataArch = 4
	dataArgs = 16
)

// refused are the system calls that no model needs. Calls on open descriptors, memory,
// threads and clocks stay allowed.
func refused() []uint32 {
	return slices.Concat(refusedHere(), []uint32{
		// Other programs, and other processes.
		unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
		unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_KCMP,
		unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
		// The network. The socket that the process has stays.
		unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN,
		// Writing files. Landlock restricts reading.
		unix.SYS_OPENAT2, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_LINKAT,
		unix.SYS_SYMLINKAT, unix.SYS_RENAMEAT2, unix.SYS_TRUNCATE, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2,
		unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_FANOTIFY_INIT,
		// io_uring bypasses seccomp.
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		// Users, roots, namespaces and keyrings.
		unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID, unix.SYS_SETRESGID, unix.SYS_SETFSUID,
		unix.SYS_SETFSGID, unix.SYS_SETGROUPS, unix.SYS_CAPSET, unix.SYS_PERSONALITY, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT,
		unix.SYS_PIVOT_ROOT, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
		unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		// The kernel and the machine.
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE,
		unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SYSLOG, unix.SYS_ACCT,
		unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
	})
}

const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

const (
	allow  = unix.SECCOMP_RET_ALLOW
	deny   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS) // the C library falls back to an older call
)

// program is a BPF program.
type program struct {
	code []unix.SockFilter
}

func (p *program) statement(op uint16, k uint32) {
	p.code = append(p.code, unix.SockFilter{Code: op, K: k})
}

func (p *program) jump(op uint16, k uint32, yes, no uint8) {
	p.code = append(p.code, unix.SockFilter{Code: op, Jt: yes, Jf: no, K: k})
}

func (p *program) load(offset uint32) { p.statement(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }

func (p *program) give(answer uint32) { p.statement(unix.BPF_RET|unix.BPF_K, answer) }

// answer returns a fixed action for one call.
func (p *program) answer(call, answer uint32) {
	p.jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, 0, 1)
	p.give(answer)
}

// bits allows a call only if an argument has any of the bits (wanted) or none.
func (p *program) bits(call, arg, bits uint32, wanted bool) {
	p.jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, 0, 4)
	p.load(dataArgs + 8*arg)
	yes, no := uint8(1), uint8(0)
	if wanted {
		yes, no = 0, 1
	}
	p.jump(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, bits, yes, no)
	p.give(allow)
	p.give(deny)
}

// onlyPIDs allows a call only if its first argument is one of the pids.
func (p *program) onlyPIDs(call uint32, pids ...int) {
	p.jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, 0, uint8(2*len(pids)+2))
	p.load(dataArgs)
	for _, pid := range pids {
		p.jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, uint32(pid), 0, 1)
		p.give(allow)
	}
	p.give(deny)
}

// filter is the program for the process pid. Each call occurs once, so order does not
// matter.
func filter(pid int) []unix.SockFilter {
	var p program
	p.load(dataArch)
	p.jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, architecture, 1, 0)
	p.give(unix.SECCOMP_RET_KILL_PROCESS)
	p.load(dataCall)
	p.jump(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, secondSet, 0, 1)
	p.give(absent)
	for _, call := range refused() {
		p.answer(call, deny)
	}
	p.answer(unix.SYS_CLONE3, absent)
	p.bits(unix.SYS_CLONE, 0, unix.CLONE_THREAD, true)
	p.bits(unix.SYS_OPENAT, 2, writing, false)
	p.architectureRules()
	p.onlyPIDs(unix.SYS_KILL, pid)
	p.onlyPIDs(unix.SYS_TGKILL, pid)
	p.onlyPIDs(unix.SYS_PRLIMIT64, 0, pid)
	p.give(allow)
	return p.code
}

// installFilter installs the filter for all threads. Without SPEC_ALLOW some kernels
// would also turn on slow mitigations.
func installFilter(pid int) error {
	code := filter(pid)
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// hasSeccomp reports whether the kernel supports filters.
func hasSeccomp() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}
