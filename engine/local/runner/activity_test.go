package runner

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
)

// painter is at the seventh of twenty steps.
type painter struct{ steps }

func (*painter) Step() (step, of int) { return 7, 20 }

// TestBeatsWithSteps: an image's steps are reported more often than other progress.
func TestBeatsWithSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wire bytes.Buffer
		p := &painter{}
		stop := heartbeats(&sender{conn: &wire, answering: true}, p)
		time.Sleep(stepInterval / 2) // between two checks
		p.Add(1)
		time.Sleep(2 * stepInterval)
		stop()
		want, err := appendFrame(nil, heartbeat{7, 20})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(wire.Bytes(), want) {
			t.Errorf("sent %x, want %x", wire.Bytes(), want)
		}
	})
}

// TestStep: the client knows how far an image is while it is drawn, and not later.
func TestStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := Dial(path, NewBudget())
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		var reading sync.WaitGroup
		reading.Go(func() { _, _ = io.Copy(io.Discard, conn) })
		defer reading.Wait() // until the client closes the connection
		s := &sender{conn: conn}
		_ = s.begin()
		s.beat(heartbeat{7, 20})
		_ = s.event(engine.Drawn{Image: engine.Image{Data: []byte("x"), MediaType: "image/png"}})
	}()
	ctx := t.Context()
	conn, err := c.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c.progress.begin()
	if err := c.begin(ctx, conn, call{Images: &engine.ImageRequest{Choices: 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.next(ctx, conn, engine.Extent{}); err != nil {
		t.Fatal(err)
	}
	if step, of := c.progress.get(); step != 7 || of != 20 {
		t.Errorf("step %d of %d", step, of)
	}
	c.progress.begin() // another request, which waits and leaves
	c.progress.end()
	if step, of := c.progress.get(); step != 7 || of != 20 {
		t.Errorf("step %d of %d after another request left", step, of)
	}
	c.progress.end()
	if step, of := c.progress.get(); step != 0 || of != 0 {
		t.Errorf("step %d of %d after the end", step, of)
	}
}

// TestStepsThatCannotBe are refused, as a process is not trusted.
func TestStepsThatCannotBe(t *testing.T) {
	for _, tt := range []struct {
		h  heartbeat
		ok bool
	}{
		{heartbeat{}, true}, {heartbeat{0, 4}, true}, {heartbeat{4, 4}, true},
		{heartbeat{5, 4}, false}, {heartbeat{-1, 4}, false}, {heartbeat{1, maxSteps + 1}, false},
	} {
		var p progress
		if err := p.set(tt.h); (err == nil) != tt.ok {
			t.Errorf("%+v: error %v", tt.h, err)
		}
	}
}
