package protocol_test

import (
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/diglot/diglot/engine/mock"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/protocol"
)

// TestAgainstMock runs all scenarios against this server, over an engine without a model.
func TestAgainstMock(t *testing.T) {
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		t.Run(string(profile), func(t *testing.T) {
			target := serve(t, profile)
			report := conformance.Run(t.Context(), target, protocol.All(target.Documents), conformance.Options{Parallel: 4})
			for _, r := range report.Results {
				for _, f := range r.Failures {
					t.Errorf("%s: %s\n%s\n%d %s", r.Name, f.Message, f.Exchange.Curl()[:min(300, len(f.Exchange.Curl()))], f.Exchange.Status, f.Exchange.Body)
				}
				if r.Outcome == conformance.Skipped {
					t.Errorf("%s: skipped: %s", r.Name, r.Reason)
				}
			}
			if n := report.Count(conformance.Pass); n < 100 {
				t.Errorf("only %d scenarios passed", n)
			}
		})
	}
}

func serve(t *testing.T, profile openapi.Profile) *conformance.Target {
	t.Helper()
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if documents, err = documents.Narrow(profile); err != nil {
		t.Fatal(err)
	}
	engine, err := mock.New(mock.Config{Models: []string{"hub/m:1b"}, Only: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := handlers.New(handlers.Config{Engine: engine, Log: slog.New(slog.DiscardHandler), Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	const name = "hub/m:1b"
	return &conformance.Target{
		BaseURL: server.URL, Documents: documents, Marks: true,
		Models: conformance.Models{Text: name, Embedding: name, Image: name, Vision: name},
	}
}
