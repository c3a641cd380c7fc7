package engine

import (
	"context"
	"slices"
)

// routeKey is the key of a context's route.
type routeKey struct{}

// WithRoute says which servers a request has come through before this one.
// An engine that asks other servers passes it on, so that a request that
// would go in a circle is noticed.
func WithRoute(ctx context.Context, servers []string) context.Context {
	return context.WithValue(ctx, routeKey{}, slices.Clone(servers))
}

// Route is what [WithRoute] said; empty: the request came from a client.
func Route(ctx context.Context) []string {
	servers, _ := ctx.Value(routeKey{}).([]string)
	return slices.Clone(servers)
}
