package scenario_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/scenario"
)

var wellNamed = regexp.MustCompile(`^(openai|anthropic)/[a-z0-9_-]+(/[a-z0-9-]+)+$`)

// TestScenarios holds names, sentences and operations to their form: names are in reports,
// baselines and links.
func TestScenarios(t *testing.T) {
	target := documents(t)
	seen := map[string]bool{}
	for _, s := range scenario.All() {
		if !wellNamed.MatchString(s.Name) || seen[s.Name] {
			t.Errorf("%s: the name is not style/subject/promise, or there twice", s.Name)
		}
		seen[s.Name] = true
		if !strings.HasSuffix(s.About, ".") || strings.Contains(s.About, ". ") {
			t.Errorf("%s: not one sentence: %q", s.Name, s.About)
		}
		if s.Operation == "" {
			continue
		}
		if _, ok := target.Document(s.Style()).Operation(s.Operation); !ok {
			t.Errorf("%s: the document has no operation %s", s.Name, s.Operation)
		}
	}
}

func documents(t *testing.T) *conformance.Target {
	t.Helper()
	both, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return &conformance.Target{Documents: both}
}
