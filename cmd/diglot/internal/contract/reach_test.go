package contract

import (
	"bytes"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// mute never answers.
type mute struct{}

func (mute) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestReachTakesNoLongerThanARequest has a server that takes the request and is silent.
func TestReachTakesNoLongerThanARequest(t *testing.T) {
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var stderr bytes.Buffer
		began := time.Now()
		target := &conformance.Target{
			BaseURL: "http://h", Timeout: 20 * time.Second, Client: &http.Client{Transport: mute{}}, Documents: documents,
		}
		err := reach(t.Context(), &stderr, target, []conformance.Style{conformance.OpenAI})
		if took := time.Since(began); exit.Status(err) != exit.NoServer || took != target.Timeout {
			t.Errorf("%v after %v", err, took)
		}
		if stderr.String() != "waiting for the server\n" {
			t.Errorf("%q is said", stderr.String())
		}
	})
}
