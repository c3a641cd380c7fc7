package handlers

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestPaced has clients of a handler that is not one of New's.
func TestPaced(t *testing.T) {
	for _, tt := range []struct {
		name, sent string
		status     int
		ends       bool // its connection does
		took       time.Duration
	}{
		{"whole", head("/read", 2) + "ab", 200, false, 0},
		{"half a body", head("/read", 2) + "a", 400, true, DefaultStall},
		{"no body", head("/read", 2), 400, true, DefaultStall},
		{"a body that nobody reads", head("/other", 2), 200, true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := servePiped(t, Paced(http.HandlerFunc(readBody), 0), many).dial(t, here)
				send(c, tt.sent)
				start := time.Now()
				reply, body := receive(t, c)
				if reply == nil || reply.StatusCode != tt.status || reply.Close != tt.ends {
					t.Errorf("reply %v\n%s", reply, body)
				}
				ended := !tt.ends || isClosed(c)
				if took := time.Since(start); !ended || took < tt.took || took > tt.took+2*lingering {
					t.Errorf("ended: %v, after %v; want %v, or a little more", ended, took, tt.took)
				}
			})
		})
	}
}

// readBody answers with the body where the path asks for it.
func readBody(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/read" {
		_, _ = io.WriteString(w, "ok")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = w.Write(body)
}

// TestPacedAtWork checks that a connection whose request is handled is not evicted, and
// that one whose client has left is.
func TestPacedAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan struct{})
		works := Paced(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, _ = io.ReadAll(r.Body); r.Method == http.MethodPost {
				<-r.Context().Done()
				close(left)
			}
		}), 0)
		s := servePiped(t, works, ConnectionLimits{All: 1, PerAddress: 1})
		c := s.dial(t, here)
		send(c, head("/", 2)+"ab\r\n") // and a line end too many
		synctest.Wait()
		time.Sleep(time.Hour)
		s.dial(t, here) // whom it would make way for
		synctest.Wait()
		select {
		case <-left:
			t.Fatal("a connection at work made way")
		default:
		}
		_ = c.Close()
		await(t, left, time.Second)
	})
}
