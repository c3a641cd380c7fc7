package sse

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/openapi"
)

// Silence is the longest time without output: then the headers are sent, later a keep-alive
// frame. Clients give up on a silent stream after minutes, proxies after as little as ten
// seconds.
const Silence = 4 * time.Second

// Encoder turns the events of a reply into the frames of a style.
type Encoder interface {
	// Encode returns the frames of an event, possibly none.
	Encode(event engine.Event) []Frame

	// Fail returns the frames of an error after the headers. Without any the connection is
	// aborted, so that nobody takes the stream for complete.
	Fail(err *engine.Error) []Frame

	// KeepAlive returns a frame without content.
	KeepAlive() Frame
}

// Stream is a reply in progress.
type Stream struct {
	ctx     context.Context
	pairs   <-chan pair
	pending []pair
}

type pair struct {
	event engine.Event
	err   error
}

// Open starts the events. It returns once the reply has begun (an event after Start came)
// or failed, or after [Silence]. An error until then is returned, as the status can still
// tell it. The events stop when ctx ends.
func Open(ctx context.Context, events iter.Seq2[engine.Event, error]) (*Stream, error) {
	pairs := make(chan pair)
	go pump(ctx, events, pairs)
	s := &Stream{ctx: ctx, pairs: pairs}

	patience := time.NewTimer(Silence)
	defer patience.Stop()
	for {
		select {
		case p, ok := <-pairs:
			if !ok {
				return s, ctx.Err()
			}
			if p.err != nil {
				return nil, p.err
			}
			s.pending = append(s.pending, p)
			if _, begun := p.event.(engine.Start); !begun {
				return s, nil
			}
		case <-patience.C:
			return s, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func pump(ctx context.Context, events iter.Seq2[engine.Event, error], pairs chan<- pair) {
	defer close(pairs)
	for event, err := range events {
		select {
		case pairs <- pair{event, err}:
		case <-ctx.Done():
			return
		}
	}
}

// Unenforced returns the parts of tool schemas that are not enforced, if Start came in time
// for the headers.
func (s *Stream) Unenforced() []engine.Place {
	for _, p := range s.pending {
		if start, ok := p.event.(engine.Start); ok {
			return start.Unenforced
		}
	}
	return nil
}

// Serve writes the stream to w. An error from now on is sent in the stream and recorded in
// the exchange. If the style has no frame for it, Serve panics with [http.ErrAbortHandler],
// so that a stream that was cut off does not end like a complete one.
func (s *Stream) Serve(w http.ResponseWriter, encoder Encoder) {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no") // nginx would buffer the frames
	w.WriteHeader(http.StatusOK)

	out := &writer{w: w, control: http.NewResponseController(w), contract: exchange.From(s.ctx).Stream()}
	for _, p := range s.pending {
		out.write(encoder.Encode(p.event))
	}
	s.pending = nil
	out.flush()

	quiet := time.NewTimer(Silence)
	defer quiet.Stop()
	for {
		select {
		case p, ok := <-s.pairs:
			if !ok {
				return
			}
			if p.err != nil {
				s.fail(out, encoder, p.err)
				return
			}
			out.write(encoder.Encode(p.event))
		case <-quiet.C:
			out.write([]Frame{encoder.KeepAlive()})
		case <-s.ctx.Done():
			s.fail(out, encoder, s.ctx.Err())
			return
		}
		out.flush()
		quiet.Reset(Silence)
	}
}

func (s *Stream) fail(out *writer, encoder Encoder, cause error) {
	err := engine.AsError(cause)
	exchange.From(s.ctx).Fail(err)
	if out.write(encoder.Fail(err)) == 0 {
		panic(http.ErrAbortHandler)
	}
	out.flush()
}

type writer struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	contract *openapi.Stream // narrows each event; nil: nothing to withhold
	buf      []byte
}

// write sends the frames that are not withheld, and returns their number. It fails only if
// the client has disconnected, which also ends the request's context.
func (o *writer) write(frames []Frame) (sent int) {
	for _, f := range frames {
		if o.contract != nil && f.Comment == "" {
			data, ok := o.contract.Narrow(f.Event, f.Data)
			if !ok {
				continue
			}
			f.Data = data
		}
		o.buf = f.Append(o.buf[:0])
		_, _ = o.w.Write(o.buf)
		sent++
	}
	return sent
}

// flush sends what was written. Only writers in tests cannot flush.
func (o *writer) flush() { _ = o.control.Flush() }
