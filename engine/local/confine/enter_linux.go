package confine

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// firstFree is the first descriptor that is not inherited: it follows standard input,
// output, error and the socket.
const firstFree = 4

// Enter confines the process. It executes the program again, with the same
// arguments, which must call Enter again, before anything else. It then returns in
// the new program, or in the first if that could not be executed.
func Enter(n Needs) Held {
	if n.State == "" {
		return Held{Without: reexec(n).Error()} // if it returns
	}
	_ = os.Unsetenv(Marker)
	h := Held{Privileges: true}
	if _, err := fmt.Sscanf(n.State, "landlock-%d", &h.Files); err != nil {
		h.Without = n.State
	}
	if err := installFilter(os.Getpid()); err != nil {
		h.Without = strings.TrimPrefix(h.Without+"; seccomp: "+err.Error(), "; ")
		return h
	}
	h.Calls = true
	return h
}

// reexec is the first step. It returns only if it fails. The thread stays locked, so
// that no other goroutine runs restricted.
func reexec(n Needs) error {
	runtime.LockOSThread()
	preferForOOM()
	closeOnExec()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	state, err := restrictFiles(n)
	if err != nil {
		state = "Landlock: " + err.Error()
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	err = syscall.Exec(programPath(), os.Args, append(os.Environ(), Marker+"="+state))
	return fmt.Errorf("execute the program again: %w", err)
}

// programPath is the path of the program, for a readable name in ps, or
// /proc/self/exe if the file was replaced.
func programPath() string {
	const link = "/proc/self/exe"
	path, err := os.Readlink(link)
	if _, missing := os.Stat(path); err != nil || missing != nil {
		return link
	}
	return path
}

// preferForOOM makes this process the OOM killer's first choice: the parent can start
// another.
func preferForOOM() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }

// closeOnExec keeps leaked descriptors from the next program. It does nothing on
// kernels before 5.11.
func closeOnExec() {
	_ = unix.CloseRange(firstFree, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}

// dropCapabilities drops all but CAP_DAC_READ_SEARCH, which root needs to read files
// of other users.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	const keep = 1 << unix.CAP_DAC_READ_SEARCH
	left := unix.CapUserData{Permitted: data[0].Permitted & keep, Effective: data[0].Effective & keep}
	data = [2]unix.CapUserData{left, {}}
	return unix.Capset(&header, &data[0])
}

// Supported returns what [Enter] can enforce on this machine.
func Supported() Held {
	h := Held{Privileges: true}
	if version, err := landlockVersion(); err == nil {
		h.Files = version
	} else {
		h.Without = "Landlock: " + err.Error()
	}
	h.Calls = hasSeccomp()
	return h
}
