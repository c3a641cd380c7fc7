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

const health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"

// isServed reports whether a new connection from an address gets an answer.
func (s *pipeServer) isServed(t *testing.T, from string) bool {
	t.Helper()
	c := s.dial(t, from)
	defer c.Close()
	send(c, health)
	reply, _ := receive(t, c)
	return reply != nil && reply.StatusCode == http.StatusOK
}

// TestConnections fills a server with connections of many kinds. An idle one is evicted for
// a new one; one with a running request is not.
func TestConnections(t *testing.T) {
	const all = 4
	style := pipeStyles[1]
	for _, tt := range []struct {
		name, sent string
		served     bool // a new one is
	}{
		{"silent", "", true},
		{"half a head", "GET / HT", true},
		{"a head and no body", head(style.path, 1000), true},
		{"a head and one byte", head(style.path, 1000) + "{", true},
		{"between two requests", health, true},
		{"at work", head(style.path, len(style.body)) + style.body, false},
		{"at work, with a body in chunks", strings.Replace(head(style.path, 5), "Content-Length: 5", "Transfer-Encoding: chunked", 1) + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(style.body), style.body), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &endless{pause: time.Hour, ended: make(chan struct{}, 1)}
				s := servePipes(t, Config{Engine: e}, ConnectionLimits{All: all, PerAddress: all})
				var held []net.Conn
				for range all {
					c := s.dial(t, here)
					held = append(held, c)
					go func() {
						_, _ = io.WriteString(c, tt.sent)
						_, _ = io.Copy(io.Discard, c)
					}()
				}
				synctest.Wait()
				time.Sleep(young)
				if got := s.isServed(t, here); got != tt.served {
					t.Errorf("a new connection is served: %v", got)
				}
				if !tt.served {
					_ = held[0].Close()
					synctest.Wait()
					if !s.isServed(t, here) {
						t.Error("a place that is free again is not given out")
					}
				}
			})
		})
	}
}

// TestTurnedAway has a full server: some new connections get an error in the style of their
// path, the rest are closed.
func TestTurnedAway(t *testing.T) {
	for _, style := range pipeStyles {
		t.Run(style.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := servePipes(t, Config{}, ConnectionLimits{All: 1, PerAddress: 1})
				s.dial(t, here) // too young to make way
				told := s.dial(t, here)
				send(told, head(style.path, len(style.body))+style.body)
				reply, body := receive(t, told)
				if reply == nil || reply.StatusCode != style.overloaded || reply.Header.Get("Retry-After") == "" || !reply.Close {
					t.Errorf("reply %v\n%s", reply, body)
				}
				synctest.Wait()
				for range maxTurnedAway {
					s.dial(t, here)
				}
				if c := s.dial(t, here); !isClosed(c) {
					t.Error("one more is not closed")
				}
			})
		})
	}
}

// TestPerAddress checks that one remote address cannot take all connections, and that
// loopback, where a proxy may be, has no limit of its own.
func TestPerAddress(t *testing.T) {
	for _, tt := range []struct {
		name, first, second string
		served              bool
	}{
		{"one machine", "192.0.2.1", "192.0.2.1", false},
		{"another machine", "192.0.2.1", "192.0.2.2", true},
		{"one network of IPv6", "2001:db8::1", "2001:db8::2", false},
		{"another network of IPv6", "2001:db8::1", "2001:db8:0:1::1", true},
		{"an address in two forms", "192.0.2.1", "::ffff:192.0.2.1", false},
		{"this machine", "127.0.0.1", "127.0.0.1", true},
		{"this machine by IPv6", "::1", "::1", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := servePipes(t, Config{}, ConnectionLimits{All: 10, PerAddress: 2})
				for range 2 {
					s.dial(t, tt.first)
				}
				time.Sleep(young) // which frees no place: there are enough for others
				if got := s.isServed(t, tt.second); got != tt.served {
					t.Errorf("served: %v", got)
				}
			})
		})
	}
}

// TestPreface has clients begin in HTTP/2, which is not supported: they get an error, and
// the connection ends.
func TestPreface(t *testing.T) {
	for _, sent := range []string{
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", // as clients do, with frames behind it
		"GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n",
		"PRI * HTTP/2.0\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			c := servePipes(t, Config{}, many).dial(t, here)
			send(c, sent)
			start := time.Now()
			reply, body := receive(t, c)
			if reply == nil || reply.StatusCode < 400 || reply.StatusCode == 500 {
				t.Fatalf("%q: reply %v\n%s", sent, reply, body)
			}
			if _, err := io.Copy(io.Discard, c); err != nil || time.Since(start) > 2*lingering {
				t.Errorf("%q: the connection lasts %v: %v", sent, time.Since(start), err)
			}
		})
	}
}
