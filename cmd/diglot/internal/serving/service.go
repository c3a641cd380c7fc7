// Package serving is what serve does with sockets: it opens them, serves what
// comes over them within bounds, and brings that to an end.
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

// farewell is how long requests that were cut off may take to say so.
const farewell = time.Second

// Service is what listens: the handler, and how it comes to its end.
type Service struct {
	Handler http.Handler
	Grace   time.Duration // how long running requests may go on
	CutOff  func()        // ends the requests that run even then, with an error that their clients see
	Log     *slog.Logger
}

// Serve serves until ctx ends, and then for as long as requests run, but not
// much longer than the grace.
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
		s.Log.Info(fmt.Sprintf("waiting up to %v for running requests; Ctrl-C again, or another signal, ends them at once", s.Grace), "requests", n)
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

// counter is how many requests run.
type counter struct{ atomic.Int64 }

func (c *counter) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.Add(1)
		defer c.Add(-1)
		h.ServeHTTP(w, r)
	})
}

// shutDown waits until no request runs, though ctx has ended.
func shutDown(ctx context.Context, server *http.Server, limit time.Duration) error {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return server.Shutdown(ending)
}
