package report_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/report"
)

// A server of your own, held against the documents in go test.
func Example() {
	mine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model","created":"today","owned_by":"me"}]}`)
	}))
	defer mine.Close()
	documents, err := openapi.Embedded()
	if err != nil {
		panic(err)
	}
	target := &conformance.Target{BaseURL: mine.URL, Documents: documents}

	// Scenarios are functions; the packages beside this one have some hundreds.
	lists := conformance.Scenario{
		Name: "openai/models/created", About: "Times are numbers.", Operation: "listModels",
		Run: func(t *conformance.Trial) {
			var list struct {
				Data []map[string]any `json:"data"`
			}
			x := t.OK(conformance.Request{Path: "/v1/models"})
			if err := x.JSON(&list); err != nil {
				t.Fatalf(x, "%v", err)
			}
			if _, ok := list.Data[0]["created"].(float64); !ok {
				t.Errorf(x, "created is %v", list.Data[0]["created"])
			}
		},
	}
	found := conformance.Run(context.Background(), target, []conformance.Scenario{lists}, conformance.Options{})
	for _, r := range found.Results {
		fmt.Println(r.Name, r.Outcome, r.Failures[0].Message)
	}
	summary := report.Summary{Report: found, Server: mine.URL}
	fmt.Println(summary.Totals())
	if err := summary.JUnit(io.Discard); err != nil { // or a file that a CI system reads
		panic(err)
	}
	// Output:
	// openai/models/created fail created is today
	// 0 passed, 1 failed, 0 skipped, 0 not offered; score 0.0 %
}
