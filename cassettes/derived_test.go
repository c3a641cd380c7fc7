package cassettes_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/diglot/diglot/cassettes"
	"github.com/diglot/diglot/openapi"
)

// TestRecordingsFollowTheDocuments derives what it can from the documents and
// not from the recording: a request that breaks its document must have been
// answered with 400 and the name of the place, and what has no effect must
// have been named.
func TestRecordingsFollowTheDocuments(t *testing.T) {
	openAI, err := openapi.OpenAI()
	if err != nil {
		t.Fatal(err)
	}
	anthropic, err := openapi.Anthropic()
	if err != nil {
		t.Fatal(err)
	}
	broken, ignoring := 0, 0
	for _, c := range load(t) {
		document := openAI
		if strings.HasPrefix(c.Name, "anthropic/") {
			document = anthropic
		}
		for _, i := range c.Interactions {
			checked, violation := operation(t, document, i).Check([]byte(i.Request.Body))
			if violation != nil {
				broken++
				checkRefusal(t, c.Name, i, violation)
			}
			named := strings.Join(canonical(i.Response.Headers).Values("Diglot-Ignored"), ", ")
			for _, ignored := range checked.Ignored {
				ignoring++
				if i.Response.Code < 300 && !strings.Contains(named, ignored.Name) {
					t.Errorf("%s: %s has no effect, but Diglot-Ignored is %q", c.Name, ignored.Name, named)
				}
			}
		}
	}
	if broken == 0 || ignoring == 0 {
		t.Errorf("%d requests break a document, %d fields are ignored: neither may be 0, or nothing was checked", broken, ignoring)
	}
}

// operation finds what a recorded request asked for.
func operation(t *testing.T, document *openapi.Document, i cassettes.Interaction) *openapi.Operation {
	t.Helper()
	u, err := url.Parse(i.Request.URL)
	if err != nil {
		t.Fatal(err)
	}
	path := u.Path
	if strings.HasPrefix(path, "/v1/models/") {
		path = "/v1/models/{model}"
	}
	o, ok := document.Route(i.Request.Method, path)
	if !ok {
		t.Fatalf("no operation for %s %s", i.Request.Method, i.Request.URL)
	}
	return o
}

func checkRefusal(t *testing.T, name string, i cassettes.Interaction, v *openapi.Violation) {
	t.Helper()
	if i.Response.Code != http.StatusBadRequest {
		t.Errorf("%s: %v, but the status is %d", name, v, i.Response.Code)
	}
	if !strings.Contains(i.Response.Body, v.Param()) && !strings.Contains(i.Response.Body, v.Path()) {
		t.Errorf("%s: the reply does not name %s:\n%s", name, v.Param(), i.Response.Body)
	}
}
