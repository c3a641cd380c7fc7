package conformance

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestClosedConnections has a server that closes each connection at its second request, as one
// does whose idle connections end at that moment.
func TestClosedConnections(t *testing.T) {
	type used struct{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		times := r.Context().Value(used{}).(*int)
		if *times++; *times > 1 {
			panic(http.ErrAbortHandler) // net/http closes the connection for it
		}
		if _, sent := r.Header["Idempotency-Key"]; sent {
			t.Error("the header that lets Go send again is sent itself")
		}
	}))
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, used{}, new(int))
	}
	server.Start()
	defer server.Close()
	target := stubbed(t, nil)
	target.BaseURL, target.Client = server.URL, server.Client()
	for i := range 3 {
		x, err := target.exchange(t.Context(), Request{Path: "/v1/chat/completions", Body: `{}`})
		if err != nil || x.Status != http.StatusOK {
			t.Errorf("request %d: %v", i, err)
		}
	}
}
