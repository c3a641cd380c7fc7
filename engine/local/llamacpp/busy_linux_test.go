//go:build llamacpp && cgo

package llamacpp

import (
	"os/exec"
	"runtime"
	"testing"

	"github.com/diglot/diglot/engine/local/decode"
)

// TestBusyMachine computes beside processes that never wait, until they are left all cores but one.
func TestBusyMachine(t *testing.T) {
	if runtime.GOMAXPROCS(0) != runtime.NumCPU() || runtime.NumCPU() == 1 {
		t.Skip("a quota of time, or one CPU: others are not seen, or there is one thread")
	}
	b, err := OpenBare(Options{Path: modelFile(t, smallest), Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	g := b.session.governor
	if len(g.threads) < 2 {
		t.Fatalf("computing threads %v, want two", g.threads)
	}
	for range 2 * runtime.NumCPU() {
		loop := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = loop.Process.Kill()
			_ = loop.Wait() // it was killed
		}()
	}
	for step := range 50 * bareCells {
		if g.free() == 1 {
			return
		}
		position := step % bareCells
		if position == 0 {
			b.session.RemoveSequence(0)
		}
		if got := b.session.Decode([]decode.Entry{{Token: 1, Position: int32(position)}}, false); got != decode.Computed {
			t.Fatalf("outcome %v", got)
		}
	}
	t.Errorf("%d threads go on, and others need %.2f cores", g.free(), g.needed)
}
