package runner

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// steps is an engine's progress counter.
type steps struct{ atomic.Uint64 }

func (s *steps) Steps() uint64 { return s.Load() }

// crowded is a listener that is out of file descriptors for a while.
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

// TestNoRoomToAccept: running requests go on when accept fails.
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
		stop := heartbeats(&sender{conn: &wire, answering: true}, &progress)
		time.Sleep(heartbeatInterval / 2) // between two checks
		for _, works := range []bool{true, false, false, true, true} {
			if works {
				progress.Add(3)
			}
			time.Sleep(heartbeatInterval)
		}
		stop()
		progress.Add(1)
		time.Sleep(10 * heartbeatInterval)

		frame, err := appendFrame(nil, heartbeat{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := wire.Bytes(), bytes.Repeat(frame, 3); !bytes.Equal(got, want) {
			t.Errorf("sent %x, want three beats: %x", got, want)
		}
	})
}

// TestNoBeatBehindTheLastMessage: a heartbeat is due while the last message of a call waits
// for its reader.
func TestNoBeatBehindTheLastMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		var progress steps
		s := &sender{conn: ours}
		stop := heartbeats(s, &progress)
		answered := make(chan error)
		go func() {
			for range 2 { // calls
				answered <- errors.Join(s.begin(), s.last(endOfEvents{}, nil))
			}
		}()
		var want []byte
		var got bytes.Buffer
		for _, m := range []message{accepted{}, endOfEvents{}, accepted{}, endOfEvents{}} {
			frame, err := appendFrame(nil, m)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, frame...)
		}
		if _, err := io.CopyN(&got, theirs, int64(len(want)/4)); err != nil { // accepted
			t.Fatal(err)
		}
		progress.Add(1)
		time.Sleep(heartbeatInterval)
		go io.Copy(&got, theirs)
		for range 2 {
			if err := <-answered; err != nil {
				t.Error(err)
			}
			synctest.Wait() // for a heartbeat
		}
		stop()
		ours.Close()
		synctest.Wait()
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("sent %x, want %x", got.Bytes(), want)
		}
	})
}
