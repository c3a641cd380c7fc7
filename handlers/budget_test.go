package handlers

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestBodiesTogether fills the memory with unfinished bodies: one more is told to retry at
// once. A small one still fits, and all do once the others end.
func TestBodiesTogether(t *testing.T) {
	for _, style := range pipeStyles {
		t.Run(style.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const size = 1 << 20
				large := head(style.path, size) + style.body + strings.Repeat(" ", size-len(style.body))
				budget := NewBudget(2*4*(size+1)*8/7, 100)
				s := servePipes(t, Config{Budget: budget}, many)
				for range 2 {
					c := s.dial(t, here)
					if _, err := io.WriteString(c, head(style.path, size)+strings.Repeat(" ", size-1)); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				small := s.dial(t, here)
				send(small, head(style.path, len(style.body))+style.body)
				if reply, body := receive(t, small); reply == nil || reply.StatusCode != http.StatusOK {
					t.Fatalf("a small one: reply %v\n%s", reply, body)
				}
				third := s.dial(t, here)
				send(third, large)
				reply, body := receive(t, third)
				if reply == nil || reply.StatusCode != style.overloaded || reply.Header.Get("Retry-After") == "" || !reply.Close {
					t.Fatalf("reply %v\n%s", reply, body)
				}
				time.Sleep(2 * DefaultStall)
				fourth := s.dial(t, here)
				send(fourth, large)
				if reply, body := receive(t, fourth); reply == nil || reply.StatusCode != http.StatusOK {
					t.Errorf("after the others: reply %v\n%s", reply, body)
				}
			})
		})
	}
}

// TestAnnouncedBody checks that memory is reserved for received bytes, not for an announced
// length.
func TestAnnouncedBody(t *testing.T) {
	const chunked = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, tt := range []struct {
		name, sent string
		want       int64
	}{
		{"announced", head("/v1/messages", 50<<20), 4 * 4096},
		{"announced and begun", head("/v1/messages", 50<<20) + strings.Repeat(" ", 5000), 4 * 8192},
		{"small", head("/v1/messages", 99), 4 * 100},
		{"chunked", chunked, 4 * 4096},
		{"chunked and begun", chunked + "1388\r\n" + strings.Repeat(" ", 5000) + "\r\n", 4 * 8192},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				budget := NewBudget(DefaultMaxBodies, 100)
				c := servePipes(t, Config{Budget: budget}, many).dial(t, here)
				if _, err := io.WriteString(c, tt.sent); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if held := DefaultMaxBodies - budget.bodies.Free(); held != tt.want {
					t.Errorf("%d bytes are reserved, want %d", held, tt.want)
				}
			})
		})
	}
}

// TestRequestsTogether has more requests in flight than allowed.
func TestRequestsTogether(t *testing.T) {
	for _, style := range pipeStyles {
		t.Run(style.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &endless{pause: time.Hour, ended: make(chan struct{})}
				s := servePipes(t, Config{Engine: e, Budget: NewBudget(DefaultMaxBodies, 1)}, many)
				first := s.dial(t, here)
				send(first, head(style.path, len(style.body))+style.body)
				synctest.Wait()
				second := s.dial(t, here)
				send(second, head(style.path, len(style.body))+style.body)
				reply, body := receive(t, second)
				if reply == nil || reply.StatusCode != style.overloaded || reply.Header.Get("Retry-After") == "" {
					t.Errorf("reply %v\n%s", reply, body)
				}
				_ = first.Close()
				await(t, e.ended, time.Minute)
			})
		})
	}
}

// TestRequestsThatHaveNotCome checks that unfinished bodies take no request slots.
func TestRequestsThatHaveNotCome(t *testing.T) {
	for _, style := range pipeStyles {
		t.Run(style.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := servePipes(t, Config{Budget: NewBudget(DefaultMaxBodies, 1)}, many)
				for range 3 {
					send(s.dial(t, here), head(style.path, len(style.body))+style.body[:9])
				}
				synctest.Wait()
				c := s.dial(t, here)
				send(c, head(style.path, len(style.body))+style.body)
				if reply, body := receive(t, c); reply == nil || reply.StatusCode != http.StatusOK {
					t.Errorf("reply %v\n%s", reply, body)
				}
			})
		})
	}
}

// TestRequestsThatComeTogether completes two bodies for one slot: one of them is told to
// retry.
func TestRequestsThatComeTogether(t *testing.T) {
	style := pipeStyles[0]
	synctest.Test(t, func(t *testing.T) {
		e := &endless{pause: time.Hour, ended: make(chan struct{})}
		s := servePipes(t, Config{Engine: e, Budget: NewBudget(DefaultMaxBodies, 1)}, many)
		first, second := s.dial(t, here), s.dial(t, here)
		for _, c := range []net.Conn{first, second} {
			send(c, head(style.path, len(style.body))+style.body[:9])
		}
		synctest.Wait()
		send(first, style.body[9:])
		synctest.Wait()
		send(second, style.body[9:])
		if reply, body := receive(t, second); reply == nil || reply.StatusCode != style.overloaded || reply.Header.Get("Retry-After") == "" {
			t.Errorf("reply %v\n%s", reply, body)
		}
		_ = first.Close()
		await(t, e.ended, time.Minute)
	})
}

// TestLargestBody sends the largest allowed body, in chunks, to a server with the least
// memory for it.
func TestLargestBody(t *testing.T) {
	for _, style := range pipeStyles {
		t.Run(style.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const size = 600 << 10
				body := style.body + strings.Repeat(" ", size-len(style.body))
				c := servePipes(t, Config{MaxBody: size, Budget: NewBudget(MinBodies(size), 1)}, many).dial(t, here)
				send(c, strings.Replace(head(style.path, 5), "Content-Length: 5", "Transfer-Encoding: chunked", 1)+fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, body))
				if reply, text := receive(t, c); reply == nil || reply.StatusCode != http.StatusOK {
					t.Errorf("reply %v\n%s", reply, text)
				}
			})
		})
	}
}
