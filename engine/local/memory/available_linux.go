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

// availableIn reads the files of a system that is mounted at root.
func availableIn(root fs.FS) (int64, error) {
	free, err := machine(root)
	if err != nil {
		return 0, err
	}
	for _, group := range groups(root) {
		if left, ok := group.left(root); ok {
			free = min(free, left)
		}
	}
	return max(free, 0), nil
}

// machine is what /proc/meminfo calls available, less the parts of files that
// programs have mapped: the kernel would take those too, and the weights of
// other models are among them.
func machine(root fs.FS) (int64, error) {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0, err
	}
	numbers := fields(text)
	free, ok := numbers["MemAvailable:"]
	if !ok {
		return 0, errors.New("/proc/meminfo does not say what is available")
	}
	mapped := max(numbers["Mapped:"]-numbers["Shmem:"], 0) // shared memory is mapped too, and not available
	return (free - mapped) << 10, nil
}

// fields reads lines of a name and a number.
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

// group is a control group with a limit. The names are those of its files, and
// of numbers in its memory.stat: there are two versions of all.
type group struct {
	folder, limit, used      string
	active, inactive, mapped string // parts of the cache of files
}

func version1(folder string) group {
	return group{folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file", "total_inactive_file", "total_mapped_file"}
}

// version2 is a group with one of its two limits: above the high one, the
// kernel slows it down.
func version2(folder, limit string) group {
	return group{folder, limit, "memory.current", "active_file", "inactive_file", "file_mapped"}
}

// groups are those that this process is in, of all levels: each has a limit
// for all below it. A container may see its own group as the root.
func groups(root fs.FS) []group {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var all []group
	for line := range strings.Lines(string(text)) {
		// "hierarchy:controllers:path"
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[1] == "":
			for _, mount := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"} {
				for _, folder := range upwards(mount, parts[2]) {
					all = append(all, version2(folder, "memory.max"), version2(folder, "memory.high"))
				}
			}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			for _, folder := range upwards("sys/fs/cgroup/memory", parts[2]) {
				all = append(all, version1(folder))
			}
		}
	}
	return all
}

// upwards are the folders of a group and of all above it, up to the mount.
func upwards(mount, name string) []string {
	var folders []string
	for name = path.Clean("/" + name); ; name = path.Dir(name) {
		folders = append(folders, path.Join(mount, name))
		if name == "/" {
			return folders
		}
	}
}

// left is what the group may still take: its limit, less what it uses and
// cannot give back. What it can give back is its part of the system's cache of
// files, less what is mapped.
func (g group) left(root fs.FS) (int64, bool) {
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

// number reads a file of one number; "max" is no number.
func (g group) number(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, path.Join(g.folder, name))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n >= 0
}
