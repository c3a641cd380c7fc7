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

// Silence is how long a client may hear nothing: after it the headers go out
// even if there is no event yet, and then a keep-alive frame. Clients give up
// on a silent stream after minutes; proxies after as little as ten seconds.
const Silence = 4 * time.Second

// Encoder turns the events of one reply into the frames of one style.
type Encoder interface {
	// Encode returns the frames for one event, possibly none.
	Encode(event engine.Event) []Frame

	// Fail returns the frames that tell a client of an error after the
	// headers. Where the document has no such frame the connection is aborted,
	// so that nobody takes the stream for a whole one.
	Fail(err *engine.Error) []Frame

	// KeepAlive returns a frame that means nothing.
	KeepAlive() Frame
}

// Stream is a reply under way.
type Stream struct {
	ctx     context.Context
	pairs   <-chan pair
	pending []pair
}

type pair struct {
	event engine.Event
	err   error
}

// Open starts to pull events. It returns once the reply is known to have
// begun (an event after Start came), or has failed, or [Silence] has passed. An
// error that came by then is returned, so that the status is still free to
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

// Unenforced is what the first event says of the request's tool schemas, if
// it came in time for the headers.
func (s *Stream) Unenforced() []engine.Place {
	for _, p := range s.pending {
		if start, ok := p.event.(engine.Start); ok {
			return start.Unenforced
		}
	}
	return nil
}

// Serve writes the stream to w. An error from now on has no status: it is told
// in the stream and recorded in the exchange of the request. One that the
// style cannot tell aborts the reply as net/http has it, by a panic with
// [http.ErrAbortHandler]: no stream that is cut short ends as a whole one does.
func (s *Stream) Serve(w http.ResponseWriter, encoder Encoder) {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no") // nginx would collect the frames
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

// write sends the frames that the document does not withhold, and returns their
// number. It fails only when the client has left, which ends the context of
// the request as well.
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

// flush sends what was written; a writer that cannot is one in a test.
func (o *writer) flush() { _ = o.control.Flush() }
