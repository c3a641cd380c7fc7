package scenario_test

import (
	"log/slog"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/diglot/diglot/engine/mock"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/scenario"
)

// withoutChance names the scenarios that the mock must fail: neither seeds nor temperature nor
// a bias have an effect on it, and it numbers its choices.
var withoutChance = regexp.MustCompile(`/(seed/others-differ|sampling/differs|choices/greedy-alike|logit-bias/(forces-a-token|bad-ids|bans-a-token))$`)

// TestAgainstMock runs all scenarios against this server, over an engine without a model.
func TestAgainstMock(t *testing.T) {
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		t.Run(string(profile), func(t *testing.T) {
			target := serve(t, profile)
			report := conformance.Run(t.Context(), target, scenario.All(), conformance.Options{Parallel: 4})
			for _, r := range report.Results {
				t.Logf("%s %s %v %s", r.Outcome, r.Name, r.Duration, r.Reason)
				if withoutChance.MatchString(r.Name) {
					if r.Outcome == conformance.Pass {
						t.Errorf("%s passes, though the mock cannot do it", r.Name)
					}
					continue
				}
				for _, f := range r.Failures {
					t.Errorf("%s: %s", r.Name, f.Message)
					if f.Exchange != nil {
						t.Logf("%.600s\n%d %.1500s", f.Exchange.Curl(), f.Exchange.Status, f.Exchange.Body)
					}
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
	target := documents(t)
	narrowed, err := target.Documents.Narrow(profile)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := mock.New(mock.Config{Models: []string{"m"}, Only: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := handlers.New(handlers.Config{Engine: engine, Log: slog.New(slog.DiscardHandler), Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	target.BaseURL, target.Documents, target.Marks, target.Models.Text = server.URL, narrowed, true, "m"
	return target
}
