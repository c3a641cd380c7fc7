// Package serving opens the sockets of a server, limits its clients, and shuts it
// down.
package serving

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/diglot/diglot/handlers"
)

// farewell is how long requests that were cut off may take to send their error.
const farewell = time.Second

// Service is one HTTP server.
type Service struct {
	Handler http.Handler
	Grace   time.Duration // for running requests at shutdown
	CutOff  func()        // then ends them with an error for their clients
	Log     *slog.Logger
}

// Serve serves until ctx ends, and then until its requests have finished or Grace
// is over.
func (s *Service) Serve(ctx context.Context, l net.Listener) error {
	var requests counter
	server := handlers.NewServer(requests.count(s.Handler), s.Log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	if n := requests.Load(); n > 0 {
		s.Log.Info(fmt.Sprintf("waiting up to %v for running requests; another signal or Ctrl-C stops at once", s.Grace), "requests", n)
	}
	if shutDown(ctx, server, s.Grace) == nil {
		return nil
	}
	s.Log.Warn("requests were cut off", "after", s.Grace)
	s.CutOff()
	if shutDown(ctx, server, farewell) == nil {
		return nil
	}
	return server.Close()
}

// counter counts running requests.
type counter struct{ atomic.Int64 }

func (c *counter) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.Add(1)
		defer c.Add(-1)
		h.ServeHTTP(w, r)
	})
}

// shutDown waits for running requests, although ctx has ended.
func shutDown(ctx context.Context, server *http.Server, limit time.Duration) error {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return server.Shutdown(ending)
}
