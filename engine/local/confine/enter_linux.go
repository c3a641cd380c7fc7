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

// firstFree is the first descriptor that is not handed on: standard input,
// output and error, and the socket, come before.
const firstFree = 4

// Enter confines the process. It executes the program anew, with the same
// arguments, and returns in that one: whoever calls it must do so before
// anything else, and again. Where the system refuses that, it returns at once.
func Enter(n Needs) Held {
	if n.State == "" {
		return Held{Without: again(n).Error()} // if it returns
	}
	_ = os.Unsetenv(Marker)
	h := Held{Privileges: true}
	if _, err := fmt.Sscanf(n.State, "landlock-%d", &h.Files); err != nil {
		h.Without = n.State
	}
	if err := refuseCalls(os.Getpid()); err != nil {
		h.Without = strings.TrimPrefix(h.Without+"; seccomp: "+err.Error(), "; ")
		return h
	}
	h.Calls = true
	return h
}

// again is the first step. It returns only where it fails. The thread is never
// unlocked: nothing else may run in it.
func again(n Needs) error {
	runtime.LockOSThread()
	volunteer()
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

// programPath is where the program is, which is what the system shows as its
// name; or what leads to it where somebody has put another one in its place.
func programPath() string {
	const link = "/proc/self/exe"
	path, err := os.Readlink(link)
	if _, missing := os.Stat(path); err != nil || missing != nil {
		return link
	}
	return path
}

// volunteer makes this process the one that Linux ends when memory runs out:
// what eats it is a model or the template in its file, and the parent can
// start another.
func volunteer() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }

// closeOnExec has the next program get no descriptor that somebody left open.
// Kernels before 5.11 do not know the call; then it is up to those who open.
func closeOnExec() {
	_ = unix.CloseRange(firstFree, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}

// dropCapabilities leaves root what it needs to read a file that belongs to
// another user.
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

// Supported is what [Enter] would hold on this machine.
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
