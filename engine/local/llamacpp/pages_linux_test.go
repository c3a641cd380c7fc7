//go:build llamacpp && cgo

package llamacpp

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/memory"
)

// TestUnusedCells holds that KV cells take memory when they are used, and that a prompt puts
// them into huge pages, with what is in them.
func TestUnusedCells(t *testing.T) {
	b, err := OpenBareCopied(Options{Path: modelFile(t, smallest), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s := b.session
	last := func(from, to int) []float32 {
		t.Helper()
		var batch []decode.Entry
		for p := from; p < to; p++ {
			batch = append(batch, decode.Entry{Token: int32(100 + p), Position: int32(p), Logits: p == to-1})
		}
		if got := s.Decode(batch, false); got != decode.Computed {
			t.Fatalf("outcome %v", got)
		}
		return append([]float32(nil), s.Logits(to-from-1)...)
	}
	before := usedMemory(t)
	last(0, 1)
	const cache = bareCells * 30 * 2 * 3 * 64 * 2 // layers, keys and values, heads, of 64 numbers in 16 bits
	if grown := usedMemory(t) - before; grown > cache*3/4 {
		t.Errorf("after one token, %d MB more are used; all cells have %d MB", grown>>20, cache>>20)
	}
	for p := 1; p < 8; p++ {
		last(p, p+1)
	}
	small := hugePages(t)
	last(8, 8+64)
	if joined := hugePages(t) - small; joined < cache/2 && joinsPages(t) {
		t.Errorf("the prompt has put %d MB into huge pages; all cells have %d MB", joined>>20, cache>>20)
	}
	got := last(72, 73)
	s.RemoveSequence(0)
	last(0, 72)
	want := last(72, 73)
	for i := range want {
		if diff := want[i] - got[i]; diff > 0.1 || diff < -0.1 {
			t.Fatalf("logit %d is %v after small steps, %v after one: the cells differ", i, got[i], want[i])
		}
	}
}

func usedMemory(t *testing.T) int64 {
	t.Helper()
	bytes, known := memory.Resident(os.Getpid())
	if !known {
		t.Fatal("the memory of this process is not known")
	}
	return bytes
}

// hugePages is how many bytes of this process are in huge pages.
func hugePages(t *testing.T) int64 {
	t.Helper()
	rollup, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`AnonHugePages: +(\d+) kB`).FindSubmatch(rollup)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// joinsPages reports whether the kernel makes huge pages of small ones when it is told to.
func joinsPages(t *testing.T) bool {
	t.Helper()
	if !grantsHugePages() {
		return false
	}
	const collapse, size = 25, 4 << 20 // MADV_COLLAPSE
	area, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(area) }()
	const huge = 2 << 20
	from := huge - int(uintptr(unsafe.Pointer(&area[0]))%huge)
	return unix.Madvise(area[from%huge:from%huge+huge], collapse) == nil
}
