package handlers

import (
	"net/http"
	"strings"

	"github.com/diglot/diglot/engine"
)

// maxRoute is how many servers of a route are looked at; no honest one is
// longer, and the header goes on to the next server.
const maxRoute = 32

// withRoute reads the header Via (RFC 9110, 7.6.3), in which servers write
// their names behind each other.
func withRoute(r *http.Request) *http.Request {
	var servers []string
	for _, line := range r.Header.Values("Via") {
		for member := range strings.SplitSeq(line, ",") {
			// A member is the protocol, the name, and perhaps a comment.
			if fields := strings.Fields(member); len(fields) > 1 && len(servers) < maxRoute {
				servers = append(servers, fields[1])
			}
		}
	}
	if servers == nil {
		return r
	}
	return r.WithContext(engine.WithRoute(r.Context(), servers))
}
