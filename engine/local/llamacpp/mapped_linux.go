package llamacpp

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// releaseMapped lets go of the pages of mapped files; what is read of them
// later comes back from the system's cache. llama.cpp maps all of a model, and
// then makes copies, in another order, of what its fast kernels read: without
// this, the process would seem to need both.
func releaseMapped(paths []string) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return // it only looks larger
	}
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		for _, m := range mappings(maps, path) {
			// Of a shared mapping that is only read, no content can be lost.
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED)
		}
	}
}

type mapping struct{ start, end uintptr }

// mappings finds where a file is mapped to be read by all who map it. A line
// of maps is "start-end r--s offset device inode path".
func mappings(maps []byte, path string) []mapping {
	var found []mapping
	lines := bufio.NewScanner(bytes.NewReader(maps))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[1] != "r--s" || !strings.HasSuffix(lines.Text(), " "+path) {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		start, err := strconv.ParseUint(from, 16, 64)
		if err != nil {
			continue
		}
		end, err := strconv.ParseUint(to, 16, 64)
		if err != nil || end <= start {
			continue
		}
		found = append(found, mapping{uintptr(start), uintptr(end)})
	}
	return found
}
