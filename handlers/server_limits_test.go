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
