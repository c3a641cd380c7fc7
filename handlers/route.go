package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
)

// maxRoute limits the servers read from a route: real ones are shorter, and the header goes
// on to the next server.
const maxRoute = 32

// withRoute reads Via (RFC 9110, 7.6.3), to which each server adds its name.
func withRoute(r *http.Request) *http.Request {
	var servers []string
	for _, line := range r.Header.Values("Via") {
		for member := range strings.SplitSeq(line, ",") {
			// An entry is the protocol, the name, and perhaps a comment.
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

// upgrade returns the protocol that the request insists on, or "". An offer of another HTTP
// version or of TLS may be ignored (RFC 9110, 7.8); Java's client sends one with every
// first request.
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

// list is a comma-separated header.
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
