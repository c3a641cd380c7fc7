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

// answer answers one call. Its error is that of the connection.
func answer(ctx context.Context, s *sender, e engine.Engine, c call) error {
	if c == (call{}) {
		models, err := e.Models(ctx)
		return s.last(listed{models}, err)
	}
	if err := s.send(taken{}, nil); err != nil {
		return err
	}
	if p, ok := e.(Progress); ok {
		stop := beats(s, p)
		defer stop()
	}
	switch {
	case c.Count != nil:
		n, err := e.Count(ctx, c.Count.request())
		return s.last(counted{n}, err)
	case c.Embed != nil:
		return s.lastOf(embed(ctx, e, c.Embed))
	case c.Images != nil:
		return s.lastOf(draw(ctx, e, c.Images))
	}
	for event, err := range e.Generate(ctx, c.Generate.request()) {
		if err != nil {
			return s.last(nil, err)
		}
		if err := s.event(event); err != nil {
			return err
		}
	}
	return s.last(ended{}, nil)
}

// embed returns vectors as bytes, and what says so.
func embed(ctx context.Context, e engine.Engine, req *engine.EmbeddingRequest) (message, []byte, error) {
	embeddings, err := e.Embed(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	return fromEmbeddings(embeddings)
}

// draw returns pictures as bytes, and what says so.
func draw(ctx context.Context, e engine.Engine, req *engine.ImageRequest) (message, []byte, error) {
	images, err := e.GenerateImages(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	return fromImages(images)
}

// beats sends a sign of progress now and then for as long as p gets on.
func beats(s *sender, p Progress) (stop func()) {
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
				_ = s.send(beat{}, nil) // the next event reports what is wrong
			}
		}
	})
	return func() {
		close(done)
		beating.Wait()
	}
}
