//go:build imagegen

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/media"
)

// TestImageVerify runs the scenarios of images over the real engine. Those of each field of
// the document run over the mock: they ask for large images too.
func TestImageVerify(t *testing.T) {
	library := imageEngine(t)
	u := newUser(t)
	_, files, _ := strings.Cut(miniature(t), "=")
	autoencoder, model, _ := strings.Cut(files, ",")
	definition := fmt.Sprintf("FROM %s\nFROM %s\nPARAMETER steps 1\nPARAMETER width 64\nPARAMETER height 64\n", model, autoencoder)
	u.must("create", "m", "--quiet", "-f", u.write("m", definition))
	s := startFor(t, u.environment(nil, nil).getenv, "--socket", "none", "--imagegen", library)
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	target := &conformance.Target{BaseURL: s.url, Documents: documents, Marks: true, Models: conformance.Models{Image: "m"}}
	all := slices.DeleteFunc(media.All(), func(s conformance.Scenario) bool { return s.Operation != "createImage" })
	passed := 0
	for _, r := range conformance.Run(t.Context(), target, all, conformance.Options{}).Results {
		switch r.Outcome {
		case conformance.Pass:
			passed++
		default:
			t.Errorf("%s: %s %s", r.Name, r.Outcome, r.Reason)
			for _, f := range r.Failures {
				t.Logf("%.500s", f.Message)
			}
		}
	}
	t.Logf("%d of %d scenarios passed", passed, len(all))
}
