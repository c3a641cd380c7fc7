package handlers

import (
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestStalledBody announces bodies that do not arrive: each is answered after the stall
// time, its connection ends, and its memory is released.
func TestStalledBody(t *testing.T) {
	for _, style := range pipeStyles {
		for _, tt := range []struct{ name, sent string }{
			{"one byte", "{"},
			{"nothing", ""},
			{"less than a byte a second", strings.Repeat(" ", 20)},
		} {
			t.Run(style.name+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					budget := NewBudget(DefaultMaxBodies, 1)
					s := servePipes(t, Config{Budget: budget}, many)
					c := s.dial(t, here)
					defer dribble(c, head(style.path, 50<<20), tt.sent, 1, 2*time.Second)()
					start := time.Now()
					reply, body := receive(t, c)
					if reply == nil || reply.StatusCode != http.StatusGatewayTimeout || !reply.Close || !strings.Contains(body, "did not arrive in time") {
						t.Fatalf("reply %v\n%s", reply, body)
					}
					if took := time.Since(start); took != DefaultStall {
						t.Errorf("it took %v, want %v", took, DefaultStall)
					}
					if !isClosed(c) || time.Since(start) > DefaultStall+2*lingering {
						t.Errorf("the connection lasts %v", time.Since(start))
					}
					synctest.Wait()
					if free := budget.bodies.Free(); free != DefaultMaxBodies {
						t.Errorf("%d bytes are still reserved", DefaultMaxBodies-free)
					}
				})
			})
		}
	}
}

// dribble sends a head at once and a body in small pieces with pauses. wait waits for the
// end.
func dribble(c net.Conn, head, body string, size int, pause time.Duration) (wait func()) {
	var sending sync.WaitGroup
	sending.Go(func() {
		_, err := io.WriteString(c, head)
		for err == nil && body != "" {
			n := min(len(body), size)
			_, err = io.WriteString(c, body[:n])
			body = body[n:]
			time.Sleep(pause)
		}
	})
	return sending.Wait
}

// TestSlowBody sends a body that takes longer than the stall time but makes progress.
func TestSlowBody(t *testing.T) {
	for _, style := range pipeStyles {
		t.Run(style.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := servePipes(t, Config{}, many).dial(t, here)
				body := strings.Repeat(" ", 200<<10) + style.body
				defer dribble(c, head(style.path, len(body)), body, 2<<10, time.Second)()
				start := time.Now()
				reply, text := receive(t, c)
				if reply == nil || reply.StatusCode != http.StatusOK || reply.Close {
					t.Fatalf("reply %v\n%s", reply, text)
				}
				if took := time.Since(start); took < 3*DefaultStall {
					t.Errorf("it took %v: the body was not slow", took)
				}
			})
		})
	}
}

// endless is an engine with endless answers, which reports when nobody reads them.
type endless struct {
	handlerstest.Engine
	pause time.Duration // between two events
	ended chan struct{}
}

func (e *endless) Generate(ctx context.Context, _ *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		defer close(e.ended)
		more := yield(engine.Start{PromptTokens: 3}, nil) && yield(engine.BlockStart{Kind: engine.BlockText}, nil)
		for more && ctx.Err() == nil {
			select {
			case <-time.After(e.pause):
			case <-ctx.Done():
			}
			more = yield(engine.TextDelta{Text: "x"}, nil)
		}
	}
}

// TestUntakenStream has clients that never read their stream: the engine stops after the
// stall time.
func TestUntakenStream(t *testing.T) {
	for _, style := range pipeStyles {
		t.Run(style.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &endless{pause: time.Millisecond, ended: make(chan struct{})}
				c := servePipes(t, Config{Engine: e}, many).dial(t, here)
				body := strings.TrimSuffix(style.body, "}") + `,"stream":true}`
				send(c, head(style.path, len(body))+body)
				await(t, e.ended, DefaultStall+time.Second)
			})
		})
	}
}

// TestUntakenReply has a client that reads nothing of a whole reply.
func TestUntakenReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &handlerstest.Engine{Name: "m", Events: handlerstest.Text(strings.Repeat("x", 1<<20))}
		s := servePipes(t, Config{Engine: e}, many)
		c := s.dial(t, here)
		send(c, head(pipeStyles[0].path, len(pipeStyles[0].body))+pipeStyles[0].body)
		time.Sleep(DefaultStall + time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("a request runs: %v", err)
		}
		_ = c
	})
}

// TestSlowStream has a stream with long pauses that is read slowly: it is not cut off.
func TestSlowStream(t *testing.T) {
	for _, style := range pipeStyles {
		t.Run(style.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &endless{pause: 2 * time.Second, ended: make(chan struct{})}
				c := servePipes(t, Config{Engine: e, Stall: time.Second}, many).dial(t, here)
				body := strings.TrimSuffix(style.body, "}") + `,"stream":true}`
				send(c, head(style.path, len(body))+body)
				got, err := io.ReadAll(io.LimitReader(c, 5000))
				if err != nil || len(got) < 5000 {
					t.Errorf("the stream ends after %d bytes: %v", len(got), err)
				}
				_ = c.Close()
				await(t, e.ended, time.Minute)
			})
		})
	}
}

// TestEarlyRefusal refuses requests by their headers: the body is not awaited, and the
// connection ends even if a client sends a part of its body and then nothing.
func TestEarlyRefusal(t *testing.T) {
	keys := NewKeys(Key{"k", "secret"})
	for _, tt := range []struct {
		name, path, header string
		config             Config
		status             int
	}{
		{"no key", "/v1/messages", "", Config{Keys: keys}, 401},
		{"no such path", "/v1/none", "", Config{}, 404},
		{"no JSON", "/v1/messages", "Content-Encoding: gzip", Config{}, 415},
		{"too large", "/v1/messages", "", Config{MaxBody: 10}, 413},
		{"another protocol", "/v1/responses", "Connection: Upgrade\r\nUpgrade: websocket", Config{}, 426},
		{"no place", "/v1/messages", "", Config{Budget: NewBudget(1, 0)}, 529},
		{"no memory", "/v1/messages", "", Config{Budget: NewBudget(1, 1)}, 529},
	} {
		for _, waits := range []string{"", "Expect: 100-continue"} {
			t.Run(tt.name+"/"+waits, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := servePipes(t, tt.config, many).dial(t, here)
					var header []string
					for _, h := range []string{tt.header, waits} {
						if h != "" {
							header = append(header, h)
						}
					}
					send(c, head(tt.path, 1000, header...)+strings.Repeat("{", 1-min(1, len(waits))))
					start := time.Now()
					reply, body := receive(t, c)
					if reply == nil || reply.StatusCode != tt.status || !reply.Close || time.Since(start) > 0 {
						t.Fatalf("after %v: reply %v\n%s", time.Since(start), reply, body)
					}
					if !isClosed(c) || time.Since(start) > 2*lingering {
						t.Errorf("the connection lasts %v", time.Since(start))
					}
				})
			})
		}
	}
}
