package llamacpp

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMappings(t *testing.T) {
	const maps = `55d0c0000000-55d0c0021000 r-xp 00000000 fd:01 1234 /models/a b.gguf
7f1000000000-7f1000010000 r--s 00000000 fd:01 1234 /models/a b.gguf
7f1000020000-7f1000030000 r--s 00010000 fd:01 1234 /models/a b.gguf
7f2000000000-7f2000010000 rw-s 00000000 fd:01 1234 /models/a b.gguf
7f3000000000-7f3000010000 r--s 00000000 fd:01 1235 /models/c.gguf
7f4000000000-7f4000010000 rw-p 00000000 00:00 0
`
	want := []mapping{{0x7f1000000000, 0x7f1000010000}, {0x7f1000020000, 0x7f1000030000}}
	if diff := cmp.Diff(want, mappings([]byte(maps), "/models/a b.gguf"), cmp.AllowUnexported(mapping{})); diff != "" {
		t.Error(diff)
	}
}

// TestReleaseMapped maps a file, by a name that is a link, and reads it before
// and after: nothing is lost.
func TestReleaseMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	content := make([]byte, 1<<20)
	for i := range content {
		content[i] = byte(i>>8 + i)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := syscall.Mmap(int(f.Fd()), 0, len(content), syscall.PROT_READ, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(mapped) }()
	link := filepath.Join(t.TempDir(), "link.gguf")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	pages := len(content) / os.Getpagesize()
	if got := resident(t, path); got != pages {
		t.Fatalf("%d of %d pages are in memory before", got, pages)
	}
	releaseMappedPages([]string{link})
	if got := resident(t, path); got != 0 {
		t.Errorf("%d pages are in memory after", got)
	}
	if string(mapped) != string(content) {
		t.Error("the content changed")
	}
}

// resident is how many pages of a mapped file the process has.
func resident(t *testing.T, path string) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Fatal(err)
	}
	defer entries.Close()
	n := 0
	for _, m := range mappings(maps, path) {
		for at := m.start; at < m.end; at += uintptr(os.Getpagesize()) {
			var entry [8]byte
			if _, err := entries.ReadAt(entry[:], int64(at)/int64(os.Getpagesize())*8); err != nil {
				t.Fatal(err)
			}
			if entry[7]&0x80 != 0 { // bit 63: the page is present
				n++
			}
		}
	}
	return n
}
