package protocol

import (
	"net/http"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
)

// sent are headers that the vendors' SDKs send from a browser; a preflight asks for each.
var sent = map[conformance.Style][]string{
	conformance.OpenAI:    {"content-type", "authorization", "openai-organization", "openai-project", "x-stainless-lang", "x-stainless-retry-count", "x-stainless-timeout"},
	conformance.Anthropic: {"content-type", "anthropic-dangerous-direct-browser-access", "x-api-key", "anthropic-version", "anthropic-beta", "x-stainless-lang", "x-stainless-retry-count"},
}

// browsers are scenarios of pages on this machine that call the server.
func (s side) browsers() []conformance.Scenario {
	path := s.document.Operations()[0].Path
	for _, o := range s.document.Operations() {
		if o.Body != nil {
			path = o.Path
			break
		}
	}
	const origin = "http://localhost:3000"
	preflight := func(t *conformance.Trial, headers ...string) *conformance.Exchange {
		return crossing(t, conformance.Request{Method: http.MethodOptions, Path: path, Header: http.Header{
			"Origin": {origin}, "Access-Control-Request-Method": {http.MethodPost},
			"Access-Control-Request-Headers": {strings.Join(headers, ",")},
			"Authorization":                  nil, "X-Api-Key": nil, // a browser sends no key with it
		}})
	}
	post := func(t *conformance.Trial) *conformance.Exchange {
		header := http.Header{"Origin": {origin}}
		if s.style == conformance.Anthropic { // without it, the vendor lets no page in
			header.Set("Anthropic-Dangerous-Direct-Browser-Access", "true")
		}
		return crossing(t, conformance.Request{Path: path, Body: "{}", Header: header})
	}
	return []conformance.Scenario{
		s.general("preflight", "A page of this machine may call the server: its preflight is answered with its origin.", func(t *conformance.Trial) {
			x := preflight(t, sent[s.style][:2]...)
			if x.Status/100 != 2 {
				t.Fatalf(x, "status %d, want 200 or 204", x.Status)
			}
			if got := x.Header.Get("Access-Control-Allow-Origin"); got != origin && got != "*" {
				t.Errorf(x, "Access-Control-Allow-Origin is %q", got)
			}
			if got := x.Header.Get("Access-Control-Allow-Methods"); got != "*" && !strings.Contains(got, http.MethodPost) {
				t.Errorf(x, "Access-Control-Allow-Methods is %q", got)
			}
		}),
		s.general("preflight-headers", "Every header that the vendor's SDK sends from a browser is allowed.", func(t *conformance.Trial) {
			x := preflight(t, sent[s.style]...)
			allowed := "," + strings.ToLower(strings.ReplaceAll(x.Header.Get("Access-Control-Allow-Headers"), " ", "")) + ","
			for _, name := range sent[s.style] {
				any := allowed == ",*," && name != "authorization"
				if !any && !strings.Contains(allowed, ","+name+",") {
					t.Errorf(x, "%s is not allowed", name)
				}
			}
		}),
		s.general("cors-on-errors", "A page can read errors too: they have Access-Control-Allow-Origin.", func(t *conformance.Trial) {
			if x := post(t); x.Header.Get("Access-Control-Allow-Origin") != origin && x.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf(x, "Access-Control-Allow-Origin is %q", x.Header.Get("Access-Control-Allow-Origin"))
			}
		}),
		s.general("cors-varies", "A reply that names one origin says to caches that it varies by it.", func(t *conformance.Trial) {
			x := post(t)
			if x.Header.Get("Access-Control-Allow-Origin") == origin && !strings.Contains(strings.ToLower(strings.Join(x.Header.Values("Vary"), ",")), "origin") {
				t.Errorf(x, "Vary is %q, want Origin in it", x.Header.Values("Vary"))
			}
		}),
	}
}

// crossing sends a request of a page from another origin. Neither vendor's document has
// pages: a server that says nothing of them does not offer this.
func crossing(t *conformance.Trial, r conformance.Request) *conformance.Exchange {
	x := t.Do(r)
	for name := range x.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			return x
		}
	}
	if !t.Marks {
		t.NotOfferedf("the server has no headers for pages of other origins")
	}
	return x
}
