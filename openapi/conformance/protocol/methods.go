package protocol

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// vendors are methods of paths that this server lacks, and its document too.
var vendors = map[string]string{"/v1/chat/completions": http.MethodGet} // lists stored answers

// methods are scenarios of requests with another method than the operation's.
func (s side) methods(o *openapi.Operation) []conformance.Scenario {
	var all []conformance.Scenario
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if _, served := s.document.Match(method, o.Path); served {
			continue
		}
		all = append(all, s.scenario(o, "method-"+strings.ToLower(method), "A method that the path does not have is a 405 that names those it has in Allow.",
			func(t *conformance.Trial) {
				if has := vendors[o.Path]; !t.Marks && (method == has || method == http.MethodHead && has == http.MethodGet) {
					t.Skipf("the vendor's own document has the method %s here", has)
				}
				s.expectNotAllowed(t, t.Do(conformance.Request{Method: method, Path: o.Path}), o)
			}))
	}
	return all
}

func (s side) expectNotAllowed(t *conformance.Trial, x *conformance.Exchange, o *openapi.Operation) {
	s.expectError(t, x, 405)
	allowed := strings.Split(strings.ReplaceAll(strings.Join(x.Header.Values("Allow"), ","), " ", ""), ",")
	if x.Status == 405 && !slices.Contains(allowed, o.Method) {
		t.Errorf(x, "Allow is %q, want %s in it", x.Header.Get("Allow"), o.Method)
	}
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
		s.general("redirects", "No POST is redirected in a way that makes clients send a GET without its body.", func(t *conformance.Trial) {
			x := t.Do(conformance.Request{Path: first.Path + "/", Body: "{}"})
			if slices.Contains([]int{301, 302, 303}, x.Status) {
				t.Errorf(x, "status %d", x.Status)
			}
		}),
		s.general("wrong-key", "A key that the server does not know, and none, is a 401 in the envelope of the style.", func(t *conformance.Trial) { s.wrongKeys(t, first) }),
	}
}

// wrongKeys sends no valid key. A server whose replies do not depend on keys has none.
func (s side) wrongKeys(t *conformance.Trial, o *openapi.Operation) {
	r := conformance.Request{Path: o.Path, Body: "{}"}
	known := t.Do(r)
	r.Header = http.Header{"Authorization": {"Bearer no-such-key"}, "X-Api-Key": {"no-such-key"}}
	wrong := t.Do(r)
	if wrong.Status == known.Status {
		t.NotOfferedf("the server answers with status %d, whatever the key", known.Status)
	}
	r.Header = http.Header{"Authorization": nil, "X-Api-Key": nil}
	for _, x := range []*conformance.Exchange{wrong, t.Do(r)} {
		s.expectError(t, x, 401)
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
