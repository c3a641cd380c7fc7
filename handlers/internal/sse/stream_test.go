package sse

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/exchange"
)

// plain writes the kind of each event, so that a test reads as a transcript.
type plain struct{ silentFail bool }

func (plain) Encode(event engine.Event) []Frame {
	switch e := event.(type) {
	case engine.Start:
		return []Frame{{Data: []byte("start")}}
	case engine.TextDelta:
		return []Frame{{Data: []byte(e.Text)}}
	}
	return nil
}

func (p plain) Fail(err *engine.Error) []Frame {
	if p.silentFail {
		return nil
	}
	return []Frame{{Data: []byte("error " + string(err.Code))}}
}

func (plain) KeepAlive() Frame { return Frame{Comment: "alive"} }

type step struct {
	wait  time.Duration
	event engine.Event
	err   error
}

func play(steps ...step) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for _, s := range steps {
			time.Sleep(s.wait)
			if !yield(s.event, s.err) {
				return
			}
		}
	}
}

func TestStream(t *testing.T) {
	crash := engine.Errorf(engine.CodeEngineCrashed, "The engine died.")
	start, a, b := engine.Start{}, engine.TextDelta{Text: "a"}, engine.TextDelta{Text: "b"}
	tests := []struct {
		name     string
		steps    []step
		encoder  plain
		openErr  engine.Code
		body     string
		serveErr engine.Code
	}{
		{
			name:  "all at once",
			steps: []step{{event: start}, {event: a}, {event: b}},
			body:  "data: start\n\ndata: a\n\ndata: b\n\n",
		},
		{
			name:    "an error first leaves the status free",
			steps:   []step{{err: crash}},
			openErr: engine.CodeEngineCrashed,
		},
		{
			name:    "an error right after the start, too",
			steps:   []step{{event: start}, {wait: time.Second, err: crash}},
			openErr: engine.CodeEngineCrashed,
		},
		{
			name:     "an error after more than the silence is a frame",
			steps:    []step{{event: start}, {wait: Silence + time.Second, err: crash}},
			body:     "data: start\n\ndata: error engine_crashed\n\n",
			serveErr: engine.CodeEngineCrashed,
		},
		{
			name:  "silence is broken by keep-alives",
			steps: []step{{event: start}, {wait: 2*Silence + Silence/2 + Silence, event: a}},
			body:  "data: start\n\n: alive\n: alive\ndata: a\n\n",
		},
		{
			name:     "an error in mid-stream",
			steps:    []step{{event: start}, {event: a}, {err: crash}},
			body:     "data: start\n\ndata: a\n\ndata: error engine_crashed\n\n",
			serveErr: engine.CodeEngineCrashed,
		},
		{
			name:     "an error that the style cannot tell",
			steps:    []step{{event: start}, {event: a}, {err: crash}},
			encoder:  plain{silentFail: true},
			body:     "data: start\n\ndata: a\n\n",
			serveErr: engine.CodeEngineCrashed,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := &exchange.Exchange{}
				s, err := Open(exchange.With(t.Context(), x), play(tt.steps...))
				if code(err) != tt.openErr {
					t.Fatalf("Open = %v, want code %q", err, tt.openErr)
				}
				if err != nil {
					return
				}
				w := httptest.NewRecorder()
				aborted := serve(s, w, tt.encoder)
				if got := x.Facts().Err; code(got) != tt.serveErr {
					t.Errorf("recorded %v, want code %q", got, tt.serveErr)
				}
				if aborted != tt.encoder.silentFail {
					t.Errorf("aborted is %v, which is for styles without an error frame", aborted)
				}
				if got := w.Body.String(); got != tt.body {
					t.Errorf("body %q, want %q", got, tt.body)
				}
				if !w.Flushed {
					t.Error("nothing was flushed")
				}
			})
		})
	}
}

func TestStreamEndsWithItsClient(t *testing.T) {
	for _, encoder := range []plain{{}, {silentFail: true}} {
		synctest.Test(t, func(t *testing.T) {
			x := &exchange.Exchange{}
			ctx, cancel := context.WithCancel(exchange.With(t.Context(), x))
			ended := false
			events := func(yield func(engine.Event, error) bool) {
				defer func() { ended = true }()
				for yield(engine.TextDelta{Text: "a"}, nil) {
					time.Sleep(time.Second)
				}
			}
			s, err := Open(ctx, events)
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(10*time.Second, cancel)
			if aborted := serve(s, httptest.NewRecorder(), encoder); aborted != encoder.silentFail {
				t.Errorf("aborted is %v", aborted)
			}
			if err := x.Facts().Err; !errors.Is(err, context.Canceled) {
				t.Errorf("recorded %v, want canceled", err)
			}
			synctest.Wait()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if !ended {
				t.Error("the events go on after the client has left")
			}
		})
	}
}

// serve reports whether the reply was aborted.
func serve(s *Stream, w http.ResponseWriter, encoder Encoder) (aborted bool) {
	defer func() {
		cause := recover()
		if aborted = cause == http.ErrAbortHandler; cause != nil && !aborted {
			panic(cause)
		}
	}()
	s.Serve(w, encoder)
	return false
}

func code(err error) engine.Code {
	if err == nil {
		return ""
	}
	return engine.AsError(err).Code
}
