// Package serving opens the sockets of a server, limits its clients, and shuts it
// down.
package serving

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

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

// Services are what is served, by where.
type Services map[net.Listener]*Service

// Add serves on listeners, whose clients share the limits.
func (s Services) Add(listeners []net.Listener, limits handlers.ConnectionLimits, service *Service) {
	connections := handlers.NewConnections(limits)
	for _, l := range listeners {
		s[connections.Listen(l)] = service
	}
}

// Serve serves all until ctx ends, and runs beside concurrently, which may end all with an
// error.
func (s Services) Serve(ctx context.Context, beside func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for l, service := range s {
		group.Go(func() error { return service.Serve(ctx, l) })
	}
	group.Go(func() error { return beside(ctx) })
	return group.Wait()
}

// Close closes all listeners, of services that have not begun.
func (s Services) Close() error { return CloseAll(slices.Collect(maps.Keys(s))) }
