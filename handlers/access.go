package handlers

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/internal/hostname"
)

// access decides which requests are allowed at all: by Host, Origin and key.
type access struct {
	hosts   []string // allowed besides loopback names and IP literals
	origins []string // allowed besides those on loopback; "*" is all
	keys    *Keys    // nil: any key is accepted
	exposed string   // reply headers of the documents, for Access-Control-Expose-Headers
}

func newAccess(c Config, exposed []string) access {
	a := access{hosts: slices.Clone(c.AllowHosts), origins: c.AllowOrigins, keys: c.Keys, exposed: strings.Join(exposed, ", ")}
	if host, _, err := net.SplitHostPort(c.Listen); err == nil && host != "" {
		a.hosts = append(a.hosts, host)
	}
	return a
}

// check returns why r is not allowed, or nil.
func (a access) check(r *http.Request) *engine.Error {
	if err := a.checkSource(r); err != nil {
		return err
	}
	if !a.keyAllowed(r) {
		return engine.Errorf(engine.CodeUnauthenticated,
			"Incorrect or missing API key. Send it as Authorization: Bearer, or as x-api-key.")
	}
	return nil
}

// checkSource returns why r is not allowed whatever its key is, or nil.
func (a access) checkSource(r *http.Request) *engine.Error {
	if !a.hostAllowed(r.Host) {
		return engine.Errorf(engine.CodeForbidden,
			"The host name %q is not allowed. Start the server with --allow-host and this name to allow it.", hostname.WithoutPort(r.Host))
	}
	if origin := r.Header.Get("Origin"); origin != "" && !a.originAllowed(origin, r.Host) {
		return engine.Errorf(engine.CodeForbidden,
			"The Origin %q is not allowed. Start the server with --allow-origin to allow it.", origin)
	}
	return nil
}

// hostAllowed defends against DNS rebinding: a page of another site that resolves its own
// name to this machine sends that name as Host.
func (a access) hostAllowed(hostport string) bool {
	host := hostname.WithoutPort(hostport)
	if host == "" || hostname.Loopback(host) {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(a.hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

func (a access) originAllowed(origin, host string) bool {
	if slices.Contains(a.origins, "*") || slices.Contains(a.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if strings.EqualFold(u.Host, host) {
		return true // the server's own pages
	}
	return hostname.Loopback(u.Host)
}

// keyAllowed looks the key up and records its name for the log.
func (a access) keyAllowed(r *http.Request) bool {
	if a.keys == nil {
		return true
	}
	for _, key := range []string{r.Header.Get("X-Api-Key"), bearer(r.Header.Get("Authorization"))} {
		if name, ok := a.keys.find(key); ok {
			exchange.From(r.Context()).SetCaller(name)
			return true
		}
	}
	return false
}

// cors answers as the CORS protocol asks. All request headers are allowed: the SDKs send
// dozens, and none has power here.
func (a access) cors(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	if !a.originAllowed(origin, r.Host) || !a.hostAllowed(r.Host) {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", a.exposed)
	if !isPreflight(r) {
		return
	}
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE")
	h.Set("Access-Control-Max-Age", "7200")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" &&
		r.Header.Get("Access-Control-Request-Method") != ""
}

func bearer(authorization string) string {
	scheme, key, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}
