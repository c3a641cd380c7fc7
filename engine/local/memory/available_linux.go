package memory

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

func available() (int64, error) { return availableIn(os.DirFS("/")) }

func budget() int64 { return 0 }

func resident(pid int) (int64, bool) { return residentIn(os.DirFS("/"), pid) }

// residentIn reads the second number of /proc/PID/statm, in pages.
func residentIn(root fs.FS, pid int) (int64, bool) {
	text, err := fs.ReadFile(root, "proc/"+strconv.Itoa(pid)+"/statm")
	if err != nil {
		return 0, false
	}
	parts := strings.Fields(string(text))
	if len(parts) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || pages < 0 || pages > math.MaxInt64>>20 {
		return 0, false
	}
	return pages * int64(os.Getpagesize()), true
}

// availableIn reads /proc and /sys under root.
func availableIn(root fs.FS) (int64, error) {
	free, err := machine(root)
	if err != nil {
		return 0, err
	}
	for _, group := range cgroups(root) {
		if left, ok := group.left(root); ok {
			free = min(free, left)
		}
	}
	return max(free, 0), nil
}

// machine is MemAvailable of /proc/meminfo, less mapped file pages: the kernel
// counts them as available, but they include the weights of other models.
func machine(root fs.FS) (int64, error) {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0, err
	}
	numbers := fields(text)
	free, ok := numbers["MemAvailable:"]
	if !ok {
		return 0, errors.New("/proc/meminfo has no MemAvailable")
	}
	mapped := max(numbers["Mapped:"]-numbers["Shmem:"], 0) // Mapped includes shared memory, MemAvailable does not
	return (free - mapped) << 10, nil
}

// fields parses lines of a name and a number.
func fields(text []byte) map[string]int64 {
	numbers := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		parts := strings.Fields(line)
		if len(parts) < 2 {
			continue
		}
		if n, err := strconv.ParseInt(parts[1], 10, 64); err == nil && n >= 0 && n < math.MaxInt64>>11 {
			numbers[parts[0]] = n
		}
	}
	return numbers
}

// cgroup is a control group with a memory limit. The fields are the names of its
// files and of values in memory.stat, which differ between cgroup v1 and v2.
type cgroup struct {
	folder, limit, used      string
	active, inactive, mapped string // page cache
}

func version1(folder string) cgroup {
	return cgroup{folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file", "total_inactive_file", "total_mapped_file"}
}

// version2 is a cgroup v2 with one of its two limits: above memory.high it is
// throttled.
func version2(folder, limit string) cgroup {
	return cgroup{folder, limit, "memory.current", "active_file", "inactive_file", "file_mapped"}
}

// cgroups returns the cgroups of this process with all ancestors, whose limits
// apply too. A container may see its own cgroup as the root.
func cgroups(root fs.FS) []cgroup {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var all []cgroup
	for line := range strings.Lines(string(text)) {
		// "hierarchy:controllers:path"
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[1] == "":
			for _, mount := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"} {
				for _, folder := range ancestors(mount, parts[2]) {
					all = append(all, version2(folder, "memory.max"), version2(folder, "memory.high"))
				}
			}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			for _, folder := range ancestors("sys/fs/cgroup/memory", parts[2]) {
				all = append(all, version1(folder))
			}
		}
	}
	return all
}

// ancestors returns the folders of a cgroup and its ancestors up to the mount.
func ancestors(mount, name string) []string {
	var folders []string
	for name = path.Clean("/" + name); ; name = path.Dir(name) {
		folders = append(folders, path.Join(mount, name))
		if name == "/" {
			return folders
		}
	}
}

// left is what the cgroup may still allocate: its limit less its usage, without
// the page cache that is not mapped.
func (g cgroup) left(root fs.FS) (int64, bool) {
	limit, ok := g.number(root, g.limit)
	if !ok {
		return 0, false
	}
	used, ok := g.number(root, g.used)
	if !ok {
		return 0, false
	}
	text, err := fs.ReadFile(root, path.Join(g.folder, "memory.stat"))
	if err != nil {
		return limit - used, true
	}
	stat := fields(text)
	return limit - used + max(stat[g.active]+stat[g.inactive]-stat[g.mapped], 0), true
}

// number reads a file with one number; it returns false for "max".
func (g cgroup) number(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, path.Join(g.folder, name))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n >= 0
}
