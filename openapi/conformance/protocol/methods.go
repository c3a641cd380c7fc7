package protocol

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// methods are scenarios of requests with another method than the operation's.
func (s side) methods(o *openapi.Operation) []conformance.Scenario {
	var all []conformance.Scenario
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if _, served := s.document.Match(method, o.Path); served {
			continue
		}
		all = append(all, s.scenario(o, "method-"+strings.ToLower(method), "A method that the path does not have is a 405 that names those it has in Allow.",
			func(t *conformance.Trial) {
				x := t.Do(conformance.Request{Method: method, Path: o.Path})
				s.expectError(t, x, 405)
				allowed := strings.Split(strings.ReplaceAll(x.Header.Get("Allow"), " ", ""), ",")
				if x.Status == 405 && !slices.Contains(allowed, o.Method) {
					t.Errorf(x, "Allow is %q, want %s in it", x.Header.Get("Allow"), o.Method)
				}
			}))
	}
	return all
}

// paths are scenarios of paths that no operation has, and of what all replies have.
func (s side) paths() []conformance.Scenario {
	first := s.document.Operations()[0]
	for _, o := range s.document.Operations() {
		if o.Body != nil {
			first = o
			break
		}
	}
	post := func(path string) func(*conformance.Trial) {
		return func(t *conformance.Trial) {
			s.expectError(t, t.Do(conformance.Request{Path: path, Body: "{}"}), 404)
		}
	}
	return []conformance.Scenario{
		s.general("unknown-path", "A path below an operation's that the document lacks is a 404 in the envelope of the style.", post(first.Path+"/no/such/path")),
		s.general("base-url-doubled", "A base URL with one /v1 too many is a 404 in the envelope of the style.", post("/v1"+first.Path)),
		s.general("base-url-without-version", "A base URL without /v1 is a 404 in the envelope of the style, or works.", func(t *conformance.Trial) {
			x := t.Do(conformance.Request{Path: strings.TrimPrefix(first.Path, "/v1"), Body: "{}"})
			if x.Status != 400 { // it works, and the body is wrong
				s.expectError(t, x, 404)
			}
		}),
		s.general("no-html", "No error is a page of HTML.", func(t *conformance.Trial) {
			r := conformance.Request{Path: first.Path + "/%3Cscript%3E", Body: "{}", Header: http.Header{"Accept": {"*/*"}}}
			if x := t.Do(r); strings.Contains(string(x.Body), "<") && strings.Contains(x.Header.Get("Content-Type"), "html") {
				t.Errorf(x, "the error is HTML")
			}
		}),
		s.general("request-ids", "Each reply, an error too, has a request id of its own.", func(t *conformance.Trial) { s.requestIDs(t, first) }),
		s.general("redirects", "No request is redirected: clients lose the body of a POST.", func(t *conformance.Trial) {
			x := t.Do(conformance.Request{Path: first.Path + "/", Body: "{}"})
			if x.URL != "" && strings.HasSuffix(x.Path, "/") && x.Status/100 == 3 {
				t.Errorf(x, "status %d", x.Status)
			}
		}),
	}
}

// requestIDs looks for the header by which the vendors' SDKs show a request's id.
func (s side) requestIDs(t *conformance.Trial, o *openapi.Operation) {
	name := "x-request-id"
	if s.style == conformance.Anthropic {
		name = "request-id"
	}
	seen := map[string]bool{}
	for _, path := range []string{o.Path, o.Path, o.Path + "/no/such/path"} {
		x := t.Do(conformance.Request{Path: path, Body: "{}"})
		id := x.Header.Get(name)
		switch {
		case !plain.MatchString(id):
			t.Errorf(x, "the header %s is %q", name, id)
		case seen[id]:
			t.Errorf(x, "two replies have the id %s", id)
		}
		seen[id] = true
	}
}

var plain = regexp.MustCompile(`^[!-~]{4,200}$`)
