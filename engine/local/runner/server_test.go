package runner

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// steps is an engine's progress, turned by hand.
type steps struct{ atomic.Uint64 }

func (s *steps) Steps() uint64 { return s.Load() }

// crowded is a listener whose process is out of files for a while.
type crowded struct {
	net.Listener
	failures atomic.Int32
}

func (c *crowded) Accept() (net.Conn, error) {
	if c.failures.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept", syscall.EMFILE)}
	}
	return c.Listener.Accept()
}

// TestNoRoomToAccept fails to accept and goes on: the requests that run must
// not end because another cannot begin.
func TestNoRoomToAccept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	full := &crowded{Listener: l}
	full.failures.Store(3)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, full, newPuppet()) }()
	if _, err := Dial(path, NewBudget()).Models(t.Context()); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestBeatsWhileThereIsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wire bytes.Buffer
		var progress steps
		stop := beats(&sender{conn: &wire}, &progress)
		time.Sleep(beatEvery / 2) // between the looks
		for _, works := range []bool{true, false, false, true, true} {
			if works {
				progress.Add(3)
			}
			time.Sleep(beatEvery)
		}
		stop()
		progress.Add(1)
		time.Sleep(10 * beatEvery)

		frame, err := appendFrame(nil, beat{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := wire.Bytes(), bytes.Repeat(frame, 3); !bytes.Equal(got, want) {
			t.Errorf("sent %x, want three beats: %x", got, want)
		}
	})
}
