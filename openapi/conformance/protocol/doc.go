// Package protocol has the promises of a server that concern HTTP and not what a model says:
// errors in the envelope of the style, methods, bodies, paths, request ids, CORS, and names
// of models.
package protocol

import (
	"net/http"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// All returns the scenarios for the operations of the documents.
func All(documents openapi.Documents) []conformance.Scenario {
	both := []side{{conformance.OpenAI, documents.OpenAI}, {conformance.Anthropic, documents.Anthropic}}
	var all []conformance.Scenario
	for _, s := range both {
		all = append(all, s.paths()...)
		all = append(all, s.browsers()...)
		all = append(all, s.models()...)
		for _, o := range s.document.Operations() {
			if o.Body == nil || o.Mark.Server == openapi.SupportRefused {
				continue
			}
			all = append(all, s.bodies(o)...)
			all = append(all, s.methods(o)...)
			all = append(all, s.names(o)...)
		}
	}
	return all
}

// side is one style with its document.
type side struct {
	style    conformance.Style
	document *openapi.Document
}

// scenario makes a scenario about an operation.
func (s side) scenario(o *openapi.Operation, promise, about string, run func(*conformance.Trial)) conformance.Scenario {
	return conformance.Scenario{
		Name:      string(s.style) + "/" + conformance.Subject(o) + "/" + promise,
		About:     about,
		Operation: o.ID,
		Needs:     conformance.NeedOf(o),
		Run:       run,
	}
}

// general makes a scenario about the server as a whole.
func (s side) general(promise, about string, run func(*conformance.Trial)) conformance.Scenario {
	return conformance.Scenario{Name: string(s.style) + "/http/" + promise, About: about, Run: run}
}

// body is a valid request of an operation.
func body(t *conformance.Trial, o *openapi.Operation) map[string]any {
	plain := t.Plain(o)
	if plain == nil {
		t.Skipf("the document has no example of a request")
	}
	return plain
}

// expectError holds a reply against the envelope of the style, and against one of the
// statuses.
func (s side) expectError(t *conformance.Trial, x *conformance.Exchange, statuses ...int) {
	if !slices.Contains(statuses, x.Status) {
		t.Errorf(x, "status %d, want %s", x.Status, statusList(statuses))
		return
	}
	s.expectEnvelope(t, x)
}

// expectEnvelope checks an error: JSON that fits the schema of errors, which are the same for
// all operations, and where the document does not list the status, that of a bad request.
func (s side) expectEnvelope(t *conformance.Trial, x *conformance.Exchange) {
	if x.Method == http.MethodHead {
		return // it has no body
	}
	if x.MediaType() != "application/json" {
		t.Errorf(x, "an error has the content type %q, want application/json", x.Header.Get("Content-Type"))
		return
	}
	statuses := []int{x.Status}
	if !t.Marks {
		statuses = append(statuses, 400)
	}
	for _, status := range statuses {
		for _, o := range s.document.Operations() {
			reply, err := o.Reply(status, "application/json")
			if err != nil || reply.Body == nil {
				continue
			}
			if err := t.CheckEnvelope(o, status, x); err != nil {
				t.Errorf(x, "the error has not the envelope of this style: %v", err)
			}
			return
		}
	}
	t.Errorf(x, "the document lists no error of status %d", x.Status)
}

func statusList(statuses []int) string {
	var words []string
	for _, status := range statuses {
		words = append(words, itoa(status))
	}
	return strings.Join(words, " or ")
}
