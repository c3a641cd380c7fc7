package runner

import (
	"context"
	"encoding/gob"
	"net"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
)

// beatEvery is how often a server looks whether its engine got on.
const beatEvery = 5 * time.Second

// acceptPause is how long a server that is out of files waits for some.
const acceptPause = 10 * time.Millisecond

// Progress is what an engine may implement besides [engine.Engine] to show
// that it works while it has nothing to send, such as during a long prompt.
type Progress interface {
	// Steps is a number that rises with each step of work.
	Steps() uint64
}

// Serve answers the requests of [Client]s that connect to l, with e, until
// ctx ends or l fails. It closes l, and returns once no request runs.
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
		case exhausted(err): // the requests that run go on, and free something
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

// pause waits for d; its error is that of ctx, which may end before.
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

// serveConn answers the calls of one connection, one after the other. The
// next call is read while one is answered: that is how a connection which
// the client closes is noticed, and ends what runs for it.
func serveConn(ctx context.Context, conn net.Conn, e engine.Engine) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer conn.Close() // whatever ended the call: the client must not wait
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

	s := &sender{encoder: gob.NewEncoder(conn)}
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

// answer answers one call. Its error is that of the connection.
func answer(ctx context.Context, s *sender, e engine.Engine, c call) error {
	if c == (call{}) {
		models, err := e.Models(ctx)
		return s.last(reply{Models: models}, err)
	}
	if err := s.send(reply{}); err != nil {
		return err
	}
	if p, ok := e.(Progress); ok {
		stop := beat(s, p)
		defer stop()
	}
	switch {
	case c.Count != nil:
		n, err := e.Count(ctx, c.Count.request())
		return s.last(reply{Count: n}, err)
	case c.Embed != nil:
		embeddings, err := e.Embed(ctx, c.Embed)
		return s.last(reply{Embeddings: embeddings}, err)
	case c.Images != nil:
		images, err := e.GenerateImages(ctx, c.Images)
		return s.last(reply{Images: images}, err)
	}
	for event, err := range e.Generate(ctx, c.Generate.request()) {
		if err != nil {
			return s.last(reply{}, err)
		}
		if err := s.send(reply{Event: event}); err != nil {
			return err
		}
	}
	return s.last(reply{}, nil)
}

// last sends what ends a call: r, or the error.
func (s *sender) last(r reply, err error) error {
	if err != nil {
		r = reply{Err: toWireError(err)}
	}
	r.Last = true
	return s.send(r)
}

// beat sends a sign of progress now and then for as long as p gets on.
func beat(s *sender, p Progress) (stop func()) {
	done := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		ticker := time.NewTicker(beatEvery)
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
				_ = s.send(reply{Beat: true}) // the next event reports what is wrong
			}
		}
	})
	return func() {
		close(done)
		beating.Wait()
	}
}

// sender sends replies from more than one goroutine.
type sender struct {
	mu      sync.Mutex
	encoder *gob.Encoder
}

func (s *sender) send(r reply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.encoder.Encode(r)
}
