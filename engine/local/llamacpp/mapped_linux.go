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

// releaseMappedPages drops the resident pages of mapped files; they fault back in
// from the page cache. llama.cpp maps the model and repacks some weights, and
// without this both would count as resident.
func releaseMappedPages(paths []string) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return // only the resident size is affected
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
			// No content is lost: the mapping is shared and read-only.
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED)
		}
	}
}

type mapping struct{ start, end uintptr }

// mappings finds the shared read-only mappings of a file. A line of
// /proc/self/maps is "start-end r--s offset device inode path".
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
