package upstream

import (
	"context"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
)

// checkRoute refuses a request that this program has sent itself, perhaps by
// way of others: without that, one request to a model whose definition names
// this server would become as many as the system has sockets for.
func (e *Engine) checkRoute(ctx context.Context) error {
	if e.config.Via == "" || !slices.Contains(engine.Route(ctx), e.config.Via) {
		return nil
	}
	return lasting(engine.CodeUnsupported, "The model leads in a circle: what %s is asked for comes back to this server. The definition of the model must name another server.", e.host).
		At(engine.Place{Field: engine.FieldModel})
}

// route is the header Via of a request (RFC 9110, 7.6.3): those that it came
// through, and this program. Empty: there is none.
func (e *Engine) route(ctx context.Context) string {
	if e.config.Via == "" {
		return ""
	}
	var members []string
	for _, server := range append(engine.Route(ctx), e.config.Via) {
		members = append(members, "1.1 "+server)
	}
	return strings.Join(members, ", ")
}
