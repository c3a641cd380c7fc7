package runner

import (
	"context"
	"encoding/gob"
	"iter"
	"net"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
)

// heartbeatInterval is how often progress is checked.
const heartbeatInterval = 5 * time.Second

// acceptPause is the delay of accepting while out of file descriptors.
const acceptPause = 10 * time.Millisecond

// Progress is an optional interface of engines that make progress without sending
// anything, as during a long prefill.
type Progress interface {
	// Steps is a counter of steps of work.
	Steps() uint64
}

// Stepper is an optional interface of engines with [Progress] that know how far
// they are.
type Stepper interface {
	// Step is the last finished step of the image that is being drawn, and how many
	// it has. 0 of 0: none is.
	Step() (step, of int)
}

// stepInterval is how often the progress of a [Stepper] is checked.
const stepInterval = time.Second

// Serve serves e to the [Client]s that connect to l, until ctx is done or l fails.
// It closes l and returns when no request is running.
func Serve(ctx context.Context, l net.Listener, e engine.Engine) error {
	registerWire()
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case exhausted(err): // running requests will free descriptors
			if pause(ctx, acceptPause) != nil {
				return nil
			}
			continue
		case err != nil:
			_ = l.Close()
			return err
		}
		running.Go(func() { serveConn(ctx, conn, e) })
	}
}

// pause sleeps for d, or returns ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// serveConn serves the calls of one connection, one at a time. It reads the next
// call meanwhile, to notice when the client closes the connection to cancel.
func serveConn(ctx context.Context, conn net.Conn, e engine.Engine) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer conn.Close() // even on a panic: the client must not wait
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	calls := make(chan call)
	go func() {
		defer cancel()
		decoder := gob.NewDecoder(conn)
		for {
			var c call
			if decoder.Decode(&c) != nil {
				return
			}
			select {
			case calls <- c:
			case <-ctx.Done():
				return
			}
		}
	}()

	s := &sender{conn: conn}
	for {
		select {
		case c := <-calls:
			if err := answer(ctx, s, e, c); err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// answer serves one call. Its error is that of the connection.
func answer(ctx context.Context, s *sender, e engine.Engine, c call) error {
	if c == (call{}) {
		models, err := e.Models(ctx)
		return s.last(modelList{models}, err)
	}
	if err := s.begin(); err != nil {
		return err
	}
	if p, ok := e.(Progress); ok {
		stop := heartbeats(s, p)
		defer stop()
	}
	switch {
	case c.Count != nil:
		n, err := e.Count(ctx, c.Count.request())
		return s.last(tokenCount{n}, err)
	case c.Embed != nil:
		return s.lastOf(embed(ctx, e, c.Embed))
	case c.Images != nil:
		return s.events(e.GenerateImages(ctx, c.Images))
	}
	return s.events(e.Generate(ctx, c.Generate.request()))
}

// events sends events and the end of the reply.
func (s *sender) events(events iter.Seq2[engine.Event, error]) error {
	for event, err := range events {
		if err != nil {
			return s.last(nil, err)
		}
		if err := s.event(event); err != nil {
			return err
		}
	}
	return s.last(endOfEvents{}, nil)
}

func embed(ctx context.Context, e engine.Engine, req *engine.EmbeddingRequest) (message, []byte, error) {
	embeddings, err := e.Embed(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	return fromEmbeddings(embeddings)
}

// heartbeats sends heartbeats while p makes progress.
func heartbeats(s *sender, p Progress) (stop func()) {
	interval := heartbeatInterval
	step := func() (h heartbeat) { return h }
	if known, ok := p.(Stepper); ok {
		interval = stepInterval
		step = func() (h heartbeat) {
			h.step, h.of = known.Step()
			return h
		}
	}
	done := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		last := p.Steps()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			if now := p.Steps(); now != last {
				last = now
				s.beat(step())
			}
		}
	})
	return func() {
		close(done)
		beating.Wait()
	}
}
