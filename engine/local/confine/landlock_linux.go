package confine

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE
	readDir  = unix.LANDLOCK_ACCESS_FS_READ_DIR
	execute  = unix.LANDLOCK_ACCESS_FS_EXECUTE

	// ofFiles are the rights that apply to files, not directories.
	ofFiles = execute | readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// grant allows access to a path and all below it.
type grant struct {
	path   string
	access uint64
}

// systemFiles are what Go, the C library and llama.cpp read: CPUs, memory, time zone
// and library paths.
func systemFiles() []grant {
	all := []grant{{"/dev/null", readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE}}
	for _, path := range []string{
		"/dev/urandom", "/dev/zero", "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/usr/share/zoneinfo", "/usr/lib/zoneinfo",
		"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm",
	} {
		all = append(all, grant{path, readFile | readDir})
	}
	return all
}

// restrictFiles restricts this thread with Landlock, and returns the version as the
// value of [Marker].
func restrictFiles(n Needs) (string, error) {
	version, err := landlockVersion()
	if err != nil {
		return "", err
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: rights(version)}
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return "", fmt.Errorf("rules: %w", errno)
	}
	defer unix.Close(int(set))
	for _, g := range grants(n) {
		if err := g.add(int(set), rights(version)); err != nil {
			return "", fmt.Errorf("%s: %w", g.path, err)
		}
	}
	if err := addOwnFolder(int(set)); err != nil {
		return "", err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return "", errno
	}
	return fmt.Sprintf("landlock-%d", version), nil
}

// landlockVersion is the kernel's Landlock ABI version, or an error if it has none.
func landlockVersion() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(version), nil
}

// rights are all file rights of a Landlock ABI version.
func rights(version int) uint64 {
	all := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1)
	for since, right := range map[int]uint64{2: unix.LANDLOCK_ACCESS_FS_REFER, 3: unix.LANDLOCK_ACCESS_FS_TRUNCATE, 5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV} {
		if version >= since {
			all |= right
		}
	}
	return all
}

// grants are all file rights of the process.
func grants(n Needs) []grant {
	all := systemFiles()
	for _, path := range n.Files {
		all = append(all, grant{path, readFile})
	}
	for _, path := range mappedFiles() {
		all = append(all, grant{path, readFile | execute})
	}
	if path := socketPath(n.Socket); path != "" {
		folder := filepath.Dir(path)
		all = append(all, grant{folder, unix.LANDLOCK_ACCESS_FS_REMOVE_FILE},
			grant{filepath.Dir(folder), unix.LANDLOCK_ACCESS_FS_REMOVE_DIR}) // of those that are empty
	}
	return all
}

// socketPath is the path of a Unix socket; empty: it has none.
func socketPath(fd int) string {
	if fd == 0 {
		return ""
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		return ""
	}
	if address, ok := address.(*unix.SockaddrUnix); ok {
		return address.Name
	}
	return ""
}

// mappedFiles are the program and its shared libraries, to execute it again.
func mappedFiles() []string {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer maps.Close()
	var paths []string
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		_, path, ok := strings.Cut(lines.Text(), "/")
		if path = "/" + path; ok && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return append(paths, "/proc/self/exe")
}

// add adds a rule, unless the path is missing or not accessible anyway.
func (g grant) add(set int, known uint64) error {
	fd, err := unix.Open(g.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, unix.ENOTDIR):
		return nil
	case err != nil:
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	access := g.access & known
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= ofFiles
	}
	return addRule(set, fd, access)
}

func addRule(set, fd int, access uint64) error {
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// addOwnFolder allows /proc/self. The rule applies to an inode, which is stable while
// the directory is open, so the descriptor is inherited.
func addOwnFolder(set int) error {
	fd, err := unix.Open("/proc/self", unix.O_PATH|unix.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return addRule(set, fd, readFile|readDir)
}
