//go:build llamacpp && cgo

package llamacpp

import (
	"os"
	"testing"

	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/memory"
)

// TestUnusedCells holds that KV cells take memory when they are used, that they are zero
// before, and that a prompt which puts them into huge pages keeps what is in them.
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
	before := memory.Resident(os.Getpid())
	last(0, 1)
	const cache = bareCells * 30 * 2 * 3 * 64 * 2 // layers, keys and values, heads, of 64 numbers in 16 bits
	if grown := memory.Resident(os.Getpid()) - before; grown > cache/2 {
		t.Errorf("after one token, %d MB more are used; all cells have %d MB", grown>>20, cache>>20)
	}
	for p := 1; p < 8; p++ {
		last(p, p+1)
	}
	last(8, 8+64) // joins
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
