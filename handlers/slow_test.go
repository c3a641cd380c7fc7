package handlers

import (
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestSlowClientsTogether has clients hold all memory with large requests, at just the
// tolerated rate. Small requests of others fit at any time, and large ones soon.
func TestSlowClientsTogether(t *testing.T) {
	const all, size, pause = 32 << 20, 2 << 20, 20 * time.Second
	style := pipeStyles[0]
	padded := func(n int) string { return head(style.path, n) + style.body + strings.Repeat(" ", n-len(style.body)) }
	vectors := `{"model":"m","input":"a"}`
	streamed := `{"stream":true,` + style.body[1:]
	for _, tt := range []struct {
		name, request string
		each          int                 // bytes that the slow ones send or take after each pause
		slow          func(net.Conn, int) // until the connection ends
	}{
		{"bodies", head(style.path, 60<<20) + strings.Repeat(" ", size*5/8), 35_000, func(c net.Conn, each int) {
			for err := error(nil); err == nil; time.Sleep(pause) {
				_, err = io.WriteString(c, strings.Repeat(" ", each))
			}
		}},
		{"replies", head("/v1/embeddings", len(vectors)) + vectors, 100_000, func(c net.Conn, each int) {
			for err := error(nil); err == nil; time.Sleep(pause) {
				_, err = io.CopyN(io.Discard, c, int64(each))
			}
		}},
		{"streams", head(style.path, size) + streamed + strings.Repeat(" ", size-len(streamed)), 400, func(c net.Conn, each int) {
			for err := error(nil); err == nil; time.Sleep(pause) {
				_, err = io.CopyN(io.Discard, c, int64(each))
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				budget := NewBudget(all, 100)
				e := talker{vectorEngine{handlerstest.Engine{Name: "m"}, size / 2}}
				s := servePipes(t, Config{Engine: &e, Budget: budget}, many)
				for range 8 {
					c := s.dial(t, here)
					go func() {
						_, _ = io.WriteString(c, tt.request)
						tt.slow(c, tt.each)
					}()
					synctest.Wait() // half-read bodies would refuse each other
				}
				if free := budget.bodies.Free(); free > all/3 { // less than the large one takes
					t.Fatalf("%d bytes are free", free)
				}
				ask := func(request string) int {
					c := s.dial(t, here)
					send(c, request)
					reply, _ := receive(t, c)
					_ = c.Close()
					if reply == nil {
						return 0
					}
					return reply.StatusCode
				}
				for range 20 { // three minutes
					if got := ask(head(style.path, len(style.body)) + style.body); got != http.StatusOK {
						t.Errorf("a small request: status %d", got)
					}
					time.Sleep(10 * time.Second)
				}
				got := ask(padded(size))
				for tries := 0; got != http.StatusOK && tries < 20; tries++ { // three minutes more
					time.Sleep(10 * time.Second)
					got = ask(padded(size))
				}
				if got != http.StatusOK {
					t.Errorf("a large request: status %d", got)
				}
			})
		})
	}
}

// talker gives everybody long answers concurrently.
type talker struct{ vectorEngine }

func (*talker) Generate(context.Context, *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		events := handlerstest.Text("x")
		for _, event := range slices.Concat(events[:2], slices.Repeat(events[2:3], 20_000), events[3:]) {
			if !yield(event, nil) {
				return
			}
		}
	}
}

// TestSlowClientAlone has the same where nobody waits for the memory.
func TestSlowClientAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 2 << 20
		style := pipeStyles[0]
		body := style.body + strings.Repeat(" ", size-len(style.body))
		c := servePipes(t, Config{}, many).dial(t, here)
		defer dribble(c, head(style.path, size)+body[:size-300_000], body[size-300_000:], 50_000, 20*time.Second)()
		if reply, text := receive(t, c); reply == nil || reply.StatusCode != http.StatusOK {
			t.Errorf("reply %v\n%s", reply, text)
		}
	})
}
