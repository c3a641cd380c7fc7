package handlers

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestHeaders sends heads that are too large or do not end, and nothing at
// all.
func TestHeaders(t *testing.T) {
	for _, tt := range []struct {
		name, sent string
		after      time.Duration // the connection is closed
		status     int           // of the reply before that; 0: none
	}{
		{"too large", "GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n", time.Second, http.StatusRequestHeaderFieldsTooLarge},
		{"no end", "GET /health HTTP/1.1\r\nHost: localhost\r\n", headerTimeout + time.Second, 0},
		{"nothing", "", headerTimeout + time.Second, 0},
		{"nothing more", health, idleTimeout + time.Second, http.StatusOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := servePipes(t, Config{}, many).dial(t, here)
				send(c, tt.sent)
				if tt.status != 0 {
					if reply, _ := receive(t, c); reply == nil || reply.StatusCode != tt.status {
						t.Errorf("reply %v, want status %d", reply, tt.status)
					}
				}
				start := time.Now()
				for !isClosed(c) {
				}
				if took := time.Since(start); took > tt.after {
					t.Errorf("closed after %v, want %v at most", took, tt.after)
				}
			})
		})
	}
}

// TestAnsweredByNetHTTP checks replies that net/http makes by itself. SECURITY.md lists
// their statuses.
func TestAnsweredByNetHTTP(t *testing.T) {
	const get, host = "GET /health HTTP/1.1\r\n", "Host: localhost\r\n"
	for _, tt := range []struct {
		name, sent string
		status     int
	}{
		{"no request", "hello\r\n\r\n", http.StatusBadRequest},
		{"a header that is none", get + host + "a b: c\r\n\r\n", http.StatusBadRequest},
		{"a value with a control character", get + host + "a: \x01\r\n\r\n", http.StatusBadRequest},
		{"no host", get + "\r\n", http.StatusBadRequest},
		{"two hosts", get + host + host + "\r\n", http.StatusBadRequest},
		{"two lengths", get + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", http.StatusBadRequest},
		{"no length", get + host + "Content-Length: x\r\n\r\n", http.StatusBadRequest},
		{"an expectation", get + host + "Expect: foo\r\n\r\n", http.StatusExpectationFailed},
		{"too large", get + host + "X: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge},
		{"a transfer coding", get + host + "Transfer-Encoding: gzip\r\n\r\n", http.StatusNotImplemented},
		{"a version", "GET /health HTTP/3.0\r\n" + host + "\r\n", http.StatusHTTPVersionNotSupported},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := servePipes(t, Config{}, many).dial(t, here)
				send(c, tt.sent)
				if reply, _ := receive(t, c); reply == nil || reply.StatusCode != tt.status {
					t.Errorf("reply %v, want status %d", reply, tt.status)
				}
				_ = c.Close()
			})
		})
	}
}
