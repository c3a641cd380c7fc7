package handlerstest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/diglot/diglot/handlers/handlerstest"
)

// printer stands for the *testing.T of a test that fails.
type printer struct{ testing.TB }

func (printer) Helper()                           {}
func (printer) Logf(string, ...any)               {}
func (printer) Cleanup(func())                    {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// A handler behind a contract fails the test for every reply that is not what
// its document says, whatever the test looks at.
func ExampleContract() {
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req_0123456789abcdef01234567")
		w.Header().Set("Request-Id", "req_0123456789abcdef01234567")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[],"mood":"good"}`)
	})
	handler := handlerstest.Contract(printer{}, server)
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/models", nil))
	// Output:
	// GET /v1/models: listModels 200: mood is not known
	// {"object":"list","data":[],"mood":"good"}
}
