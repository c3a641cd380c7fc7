package cassettes_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/openapi"
)

// TestRecordingsFollowTheDocuments derives what it can from the documents and
// not from the recording: a request that breaks its document must have been
// answered with 400 and the name of the place, and what has no effect must
// have been named.
func TestRecordingsFollowTheDocuments(t *testing.T) {
	openAI, anthropic := documents(t)
	broken, ignoring := 0, 0
	for _, c := range load(t) {
		document := documentOf(c, openAI, anthropic)
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

// TestEveryOperationIsRecorded wants of each operation that is offered a
// success and, where a request can be wrong, a failure.
func TestEveryOperationIsRecorded(t *testing.T) {
	openAI, anthropic := documents(t)
	succeeded, failed := map[*openapi.Operation]bool{}, map[*openapi.Operation]bool{}
	for _, c := range load(t) {
		for _, i := range c.Interactions {
			o := operation(t, documentOf(c, openAI, anthropic), i)
			if i.Response.Code < 300 {
				succeeded[o] = true
			} else {
				failed[o] = true
			}
		}
	}
	for _, o := range slices.Concat(openAI.Operations(), anthropic.Operations()) {
		offered := o.Mark.Server != openapi.SupportRefused
		if offered != succeeded[o] {
			t.Errorf("%s %s is offered: %v, recorded with success: %v", o.Method, o.Path, offered, succeeded[o])
		}
		if fails := o.Body != nil || strings.Contains(o.Path, "{"); fails && !failed[o] {
			t.Errorf("%s %s is not recorded with a failure", o.Method, o.Path)
		}
	}
}

func documents(t *testing.T) (openAI, anthropic *openapi.Document) {
	t.Helper()
	openAI, err := openapi.OpenAI()
	if err != nil {
		t.Fatal(err)
	}
	anthropic, err = openapi.Anthropic()
	if err != nil {
		t.Fatal(err)
	}
	return openAI, anthropic
}

// documentOf is the document of the style that a cassette is of.
func documentOf(c cassette.Cassette, openAI, anthropic *openapi.Document) *openapi.Document {
	if strings.HasPrefix(c.Name, "anthropic/") {
		return anthropic
	}
	return openAI
}

// operation finds what a recorded request asked for.
func operation(t *testing.T, document *openapi.Document, i cassette.Interaction) *openapi.Operation {
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

func checkRefusal(t *testing.T, name string, i cassette.Interaction, v *openapi.Violation) {
	t.Helper()
	if i.Response.Code != http.StatusBadRequest {
		t.Errorf("%s: %v, but the status is %d", name, v, i.Response.Code)
	}
	if !strings.Contains(i.Response.Body, v.Param()) && !strings.Contains(i.Response.Body, v.Path()) {
		t.Errorf("%s: the reply does not name %s:\n%s", name, v.Param(), i.Response.Body)
	}
}
