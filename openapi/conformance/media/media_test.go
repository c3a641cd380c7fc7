package media_test

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/mock"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/media"
)

// TestAgainstMock runs all scenarios against this server, over an engine without a model.
func TestAgainstMock(t *testing.T) {
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := mock.New(mock.Config{Models: []string{"m"}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := handlers.New(handlers.Config{Engine: engine, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	target := &conformance.Target{BaseURL: server.URL, Documents: documents, Marks: true, Models: conformance.Models{Text: "m", Embedding: "m", Image: "m", Vision: "m"}}
	report := conformance.Run(t.Context(), target, media.All(), conformance.Options{Parallel: 4})
	for _, r := range report.Results {
		for _, f := range r.Failures {
			t.Errorf("%s: %s\n%s\n%d %s", r.Name, f.Message, f.Exchange.Curl(), f.Exchange.Status, f.Exchange.Body)
		}
		blind := strings.HasSuffix(r.Name, "/image-without-vision") // the mock sees with any model
		if r.Outcome != conformance.Pass && r.Outcome != conformance.Fail && !blind {
			t.Errorf("%s: %s: %s", r.Name, r.Outcome, r.Reason)
		}
	}
	if n := report.Count(conformance.Pass); n < 25 {
		t.Errorf("only %d scenarios passed", n)
	}
}
