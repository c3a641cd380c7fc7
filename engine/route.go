package engine

import (
	"context"
	"slices"
)

// routeKey is the context key of a route.
type routeKey struct{}

// WithRoute records the servers that forwarded a request to this one. An
// engine that forwards it passes the list on, so that loops are detected.
func WithRoute(ctx context.Context, servers []string) context.Context {
	return context.WithValue(ctx, routeKey{}, slices.Clone(servers))
}

// Route returns what [WithRoute] recorded; empty: the request came from a client.
func Route(ctx context.Context) []string {
	servers, _ := ctx.Value(routeKey{}).([]string)
	return slices.Clone(servers)
}
