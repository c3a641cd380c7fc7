package handlers

import (
	"net/http"
	"slices"
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

// upgrade is the protocol that a request must be answered in if it is to be of
// use to the client, or empty. An offer of another version of HTTP, or of TLS,
// is one that a server may pass over (RFC 9110, 7.8), and Java's client sends
// it with every first request.
func upgrade(r *http.Request) string {
	if !tokens(r.Header, "Connection").has("upgrade") {
		return ""
	}
	for _, protocol := range tokens(r.Header, "Upgrade") {
		name, _, _ := strings.Cut(protocol, "/")
		if !strings.EqualFold(name, "h2c") && !strings.EqualFold(name, "HTTP") && !strings.EqualFold(name, "TLS") {
			return protocol
		}
	}
	return ""
}

// list is what a header lists.
type list []string

func tokens(h http.Header, name string) list {
	var all list
	for _, line := range h.Values(name) {
		for token := range strings.SplitSeq(line, ",") {
			if token = strings.TrimSpace(token); token != "" {
				all = append(all, token)
			}
		}
	}
	return all
}

func (l list) has(token string) bool {
	return slices.ContainsFunc(l, func(t string) bool { return strings.EqualFold(t, token) })
}
