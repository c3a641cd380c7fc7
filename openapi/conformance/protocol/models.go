package protocol

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// names are scenarios of the model's name in a request.
func (s side) names(o *openapi.Operation) []conformance.Scenario {
	with := func(t *conformance.Trial, model any) *conformance.Exchange {
		object := body(t, o)
		if object["model"] = model; model == nil {
			delete(object, "model")
		}
		return t.Do(conformance.Request{Path: o.Path, Body: object})
	}
	return []conformance.Scenario{
		s.scenario(o, "unknown-model", "A model that is not there is a 404 in the envelope of the style.", func(t *conformance.Trial) {
			x := with(t, "no-such-model")
			s.expectError(t, x, 404)
			s.expectCode(t, x, "model_not_found")
		}),
		s.scenario(o, "unknown-model-with-slashes", "A name with slashes, a colon and dots is looked up like any other.", func(t *conformance.Trial) {
			s.expectError(t, with(t, "no/such-model_1.5:latest"), 404)
		}),
		s.scenario(o, "model-empty", "An empty name of a model is a 400 or 404.", func(t *conformance.Trial) {
			s.expectError(t, with(t, ""), 400, 404)
		}),
	}
}

// expectCode wants a code where errors of the style have one.
func (s side) expectCode(t *conformance.Trial, x *conformance.Exchange, code string) {
	var reply struct {
		Error struct {
			Code *string `json:"code"`
		} `json:"error"`
	}
	if s.style != conformance.OpenAI || x.Status != 404 || x.JSON(&reply) != nil {
		return
	}
	if reply.Error.Code == nil || *reply.Error.Code != code {
		t.Errorf(x, "the code is not %s, which SDKs look for", code)
	}
}

type model struct {
	ID string `json:"id"`
}

type list struct {
	Data    []model `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
}

// get asks for models in the style.
func (s side) get(path string) conformance.Request {
	r := conformance.Request{Path: path}
	if s.style == conformance.Anthropic {
		r.Header = http.Header{"Anthropic-Version": {"2023-06-01"}}
	}
	return r
}

func named(t *conformance.Trial) string {
	if t.Models.Text == "" {
		t.Skipf("it needs a text model, and none is named")
	}
	return t.Models.Text
}

// models are scenarios of the list of models, and of one of them.
func (s side) models() []conformance.Scenario {
	var all []conformance.Scenario
	if o, ok := s.document.Match(http.MethodGet, "/v1/models"); ok {
		all = append(all, s.listing(o)...)
	}
	if o, ok := s.document.Match(http.MethodGet, "/v1/models/m"); ok {
		all = append(all, s.retrieving(o)...)
	}
	return all
}

func (s side) listing(o *openapi.Operation) []conformance.Scenario {
	read := func(t *conformance.Trial) list {
		var l list
		x := t.OK(s.get("/v1/models"))
		if err := x.JSON(&l); err != nil {
			t.Fatalf(x, "%v", err)
		}
		return l
	}
	return []conformance.Scenario{
		s.scenario(o, "lists-the-model", "The list has the model that requests name.", func(t *conformance.Trial) {
			name := named(t)
			var ids []string
			for _, m := range read(t).Data {
				ids = append(ids, m.ID)
			}
			if !slices.ContainsFunc(ids, func(id string) bool { return id == name || id == name+":latest" || id+":latest" == name }) {
				t.Errorf(t.Last(), "the list has %q, and not %q", ids, name)
			}
		}),
		s.scenario(o, "lists-once", "Each model is in the list once.", func(t *conformance.Trial) {
			seen := map[string]bool{}
			for _, m := range read(t).Data {
				if seen[m.ID] {
					t.Errorf(t.Last(), "%s is in the list twice", m.ID)
				}
				seen[m.ID] = true
			}
		}),
		s.scenario(o, "method-head", "HEAD is answered as GET, without a body, or with a 405.", func(t *conformance.Trial) {
			r := s.get(o.Path)
			r.Method = http.MethodHead
			if x := t.Do(r); x.Status != http.StatusOK && x.Status != http.StatusMethodNotAllowed {
				t.Errorf(x, "status %d, want 200 or 405", x.Status)
			}
		}),
		s.scenario(o, "lists-pages", "first_id and last_id of a list are those of its first and last model.", func(t *conformance.Trial) {
			if s.style == conformance.OpenAI {
				t.NotOfferedf("lists of this style have no pages")
			}
			l := read(t)
			if n := len(l.Data); n > 0 && (l.FirstID == nil || *l.FirstID != l.Data[0].ID || l.LastID == nil || *l.LastID != l.Data[n-1].ID) {
				t.Errorf(t.Last(), "first_id or last_id is that of another model")
			}
		}),
	}
}

func (s side) retrieving(o *openapi.Operation) []conformance.Scenario {
	retrieve := func(t *conformance.Trial, name string) {
		var m model
		x := t.OK(s.get("/v1/models/" + name))
		if err := x.JSON(&m); err != nil {
			t.Fatalf(x, "%v", err)
		}
		if m.ID == "" {
			t.Errorf(x, "the model has no id")
		}
	}
	unknown := func(name string) func(*conformance.Trial) {
		return func(t *conformance.Trial) { s.expectError(t, t.Do(s.get("/v1/models/"+name)), 404) }
	}
	return []conformance.Scenario{
		s.scenario(o, "retrieves-the-model", "The model can be looked up by its name.", func(t *conformance.Trial) { retrieve(t, named(t)) }),
		s.scenario(o, "retrieves-an-escaped-name", "The name may be escaped in the path, slashes as %2F too.", func(t *conformance.Trial) {
			retrieve(t, url.PathEscape(named(t)))
		}),
		s.scenario(o, "unknown-model", "A model that is not there is a 404 in the envelope of the style.", unknown("no-such-model")),
		s.scenario(o, "unknown-model-with-slashes", "A name with slashes is one name, and not another path.", unknown("no/such%2Fmodel:latest")),
	}
}
