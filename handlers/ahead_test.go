package handlers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// patient is an engine that works for an hour on a request, unless the client disconnects.
// Its first answers come when they may: one per value of first.
type patient struct {
	handlerstest.Engine
	first chan struct{}
	ended chan struct{}
}

func (e *patient) Generate(ctx context.Context, _ *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		if _, more := <-e.first; more {
			yield(nil, engine.Errorf(engine.CodeInternal, "It ends."))
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Hour):
		}
		close(e.ended)
	}
}

// work is how long the engine works from now on.
func (e *patient) work() time.Duration {
	start := time.Now()
	<-e.ended // after an hour at the latest
	return time.Since(start)
}

// TestLeavesWithMore has clients disconnect while their request is handled, after sending
// further bytes: the work ends all the same.
func TestLeavesWithMore(t *testing.T) {
	for _, style := range pipeStyles {
		request := head(style.path, len(style.body)) + style.body
		for _, tt := range []struct {
			name   string
			before string
			behind []string
		}{
			{"nothing", "", nil},
			{"a line end", "", []string{"\r\n"}},
			{"two bytes, one by one", "", []string{"G", "E"}},
			{"a request", "", []string{request}},
			{"requests that net/http takes in pieces", "", []string{strings.Repeat(request, 20)}},
			{"more than is kept", "", []string{strings.Repeat("x", maxAhead+1)}},
			{"a line end, and before it said that it speaks HTTP/2", "PRI * HTTP/2.0\r\nHost: localhost\r\n\r\n", []string{"\r\n"}},
		} {
			t.Run(style.name+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := &patient{first: make(chan struct{}), ended: make(chan struct{})}
					close(e.first)
					c := servePipes(t, Config{Engine: e}, many).dial(t, here)
					go func() { _, _ = io.Copy(io.Discard, c) }()
					for _, sent := range append([]string{tt.before + request}, tt.behind...) {
						send(c, sent)
						synctest.Wait()
					}
					_ = c.Close()
					if took := e.work(); took > time.Second {
						t.Errorf("the engine worked for %v", took)
					}
				})
			})
		}
	}
}

// TestLeavesFromTheSecond has a client disconnect whose pipelined second request is
// followed by more than net/http reads at once.
func TestLeavesFromTheSecond(t *testing.T) {
	style := pipeStyles[0]
	request := head(style.path, len(style.body)) + style.body
	synctest.Test(t, func(t *testing.T) {
		e := &patient{first: make(chan struct{}), ended: make(chan struct{})}
		c := servePipes(t, Config{Engine: e}, many).dial(t, here)
		go func() { _, _ = io.Copy(io.Discard, c) }()
		for _, sent := range []string{request, request + strings.Repeat(health, 200)} {
			send(c, sent)
			synctest.Wait()
		}
		e.first <- struct{}{}
		close(e.first)
		time.Sleep(time.Second)
		_ = c.Close()
		if took := e.work(); took > time.Second {
			t.Errorf("the engine worked for %v", took)
		}
	})
}

// TestPipelined sends requests before the previous one is answered: all are answered in
// order, however they are split.
func TestPipelined(t *testing.T) {
	const requests = 200 // more bytes than the buffer of net/http has
	style := pipeStyles[0]
	text := strings.Repeat(head(style.path, len(style.body))+style.body+health, requests)
	for _, size := range []int{1, 7, 4096, len(text)} {
		synctest.Test(t, func(t *testing.T) {
			e := &handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")}
			c := servePipes(t, Config{Engine: e}, many).dial(t, here)
			defer dribble(c, "", text[:min(len(text), maxAhead)], size, 0)()
			in := bufio.NewReader(c)
			for i := range 2 * min(len(text), maxAhead) * requests / len(text) {
				reply, err := http.ReadResponse(in, nil)
				if err != nil || reply.StatusCode != http.StatusOK {
					t.Fatalf("in pieces of %d bytes: reply %d: %v, %v", size, i, reply, err)
				}
				body, err := io.ReadAll(reply.Body)
				if err != nil || strings.Contains(string(body), "choices") != (i%2 == 0) {
					t.Fatalf("in pieces of %d bytes: reply %d: %s, %v", size, i, body, err)
				}
			}
			_ = c.Close()
		})
	}
}

// TestTwoLengths sends a body with both Content-Length and chunked encoding. The connection
// ends with the reply.
func TestTwoLengths(t *testing.T) {
	for _, style := range pipeStyles {
		chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(style.body), style.body)
		for name, tt := range map[string]struct {
			sent string
			ends bool
		}{
			"a length":            {head(style.path, len(style.body)) + style.body, false},
			"both":                {head(style.path, 4, "Transfer-Encoding: chunked") + chunk, true},
			"both, chunks first":  {strings.Replace(head(style.path, 4), "Content-Length", "Transfer-Encoding: chunked\r\nContent-Length", 1) + chunk, true},
			"both, and a refusal": {head("/v1/none", 4, "Transfer-Encoding: chunked") + chunk, true},
		} {
			t.Run(style.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := servePipes(t, Config{}, many).dial(t, here)
					send(c, tt.sent+health)
					reply, body := receive(t, c)
					if reply == nil || reply.Close != tt.ends {
						t.Errorf("reply %v\n%s", reply, body)
					}
				})
			})
		}
	}
}

// TestPipelinedBehind sends more than is read ahead: any amount after a safe request, but
// not after another one.
func TestPipelinedBehind(t *testing.T) {
	for _, style := range pipeStyles {
		large := strings.Repeat(" ", 3*maxAhead) + style.body
		large = head(style.path, len(large)) + large
		for _, tt := range []struct {
			name, first string
			replies     []int
			ends        bool // the connection does
		}{
			{"behind a GET", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{200, 200}, false},
			{"behind a GET, and again", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n" + health, []int{200, 200, 200}, false},
			{"behind a POST", head(style.path, len(style.body)) + style.body, []int{499}, true},
		} {
			t.Run(style.name+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := &slowEngine{Engine: handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")}}
					c := servePipes(t, Config{Engine: e}, many).dial(t, here)
					send(c, tt.first+large)
					in := bufio.NewReader(c)
					for i, want := range tt.replies {
						reply, err := http.ReadResponse(in, nil)
						if err != nil || reply.StatusCode != want {
							t.Fatalf("reply %d: %v, %v; want %d", i, reply, err, want)
						}
						_, _ = io.Copy(io.Discard, reply.Body)
					}
					_ = c.SetReadDeadline(time.Now().Add(time.Second)) // less than a connection rests
					rest, err := io.ReadAll(in)                        // where it ends, with an error for what was read of the next request
					if ended := err == nil; ended != tt.ends || strings.Contains(string(rest), " 200 ") {
						t.Errorf("after the replies %q, and the connection has ended: %v (%v)", rest, ended, err)
					}
				})
			})
		}
	}
}

// slowEngine takes a second for everything, unless the client disconnects.
type slowEngine struct{ handlerstest.Engine }

func (e *slowEngine) Models(ctx context.Context) ([]engine.Model, error) {
	select {
	case <-time.After(time.Second):
		return e.Engine.Models(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *slowEngine) Generate(ctx context.Context, r *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		select {
		case <-time.After(time.Second):
			e.Engine.Generate(ctx, r)(yield)
		case <-ctx.Done():
			yield(nil, ctx.Err())
		}
	}
}

// TestHeadInPieces splits header lines in two, so that a single byte, none, or more is left
// in net/http's buffer.
func TestHeadInPieces(t *testing.T) {
	const buffer = 4 << 10
	long := strings.Repeat("a", buffer+1000)
	for _, tt := range []struct{ name, before, first, line string }{
		{"a query", "", "", "GET /v1/models?limit=1&a=" + long + " HTTP/1.1\r\nHost: localhost\r\n\r\n"},
		{"a header", "", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n", "X: " + long + "\r\n\r\n"},
		{"a header of a second request", health, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n", "X: " + long + "\r\n\r\n"},
	} {
		for at := buffer - 3; at <= buffer+3; at++ {
			t.Run(fmt.Sprintf("%s, cut at %d", tt.name, at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := servePipes(t, Config{}, many).dial(t, here)
					start := time.Now()
					if tt.before != "" {
						send(c, tt.before)
						receive(t, c)
					}
					send(c, tt.first+tt.line[:at])
					synctest.Wait()
					send(c, tt.line[at:])
					reply, body := receive(t, c)
					if took := time.Since(start); reply == nil || reply.StatusCode != http.StatusOK || took > time.Second {
						t.Errorf("reply %v after %v\n%s", reply, took, body)
					}
					_ = c.Close()
				})
			})
		}
	}
}
