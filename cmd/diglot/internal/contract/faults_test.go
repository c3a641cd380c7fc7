package contract

import (
	"regexp"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi/conformance"
)

// unsampled are the promises that an engine without a sampler or a vocabulary cannot keep.
var unsampled = regexp.MustCompile(`/(choices/greedy-alike|logit-bias/.*|seed/others-differ|sampling/differs|unicode/input)$`)

func TestNoFault(t *testing.T) {
	target := serve(t, proxy(mockServer(t), func(*reply) {}))
	all, err := scenarios(target)
	if err != nil {
		t.Fatal(err)
	}
	var chosen []conformance.Scenario
	for _, s := range all {
		if !unsampled.MatchString(s.Name) && !strings.Contains(s.Name, "/field/") {
			chosen = append(chosen, s)
		}
	}
	report := conformance.Run(t.Context(), target, chosen, conformance.Options{Parallel: 4})
	for _, r := range report.Results {
		for _, f := range r.Failures {
			t.Errorf("%s: %s\n%s", r.Name, f.Message, f.Exchange.Curl())
		}
		if r.Outcome == conformance.Skipped {
			t.Logf("%s: skipped: %s", r.Name, r.Reason)
		}
	}
}
