package conformance

import (
	"encoding/json/v2"
	"testing"

	"github.com/diglot/diglot/openapi"
)

// TestPlainRequests holds that each operation has a request for a server whose model sees
// nothing, in every profile.
func TestPlainRequests(t *testing.T) {
	all, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		narrowed, err := all.Narrow(profile)
		if err != nil {
			t.Fatal(err)
		}
		target := &Target{Documents: narrowed, Models: Models{Text: "text", Embedding: "embedding", Image: "image"}}
		for _, d := range []*openapi.Document{narrowed.OpenAI, narrowed.Anthropic} {
			for _, o := range d.Operations() {
				if o.Body == nil || o.Mark.Server == openapi.SupportRefused {
					continue
				}
				text, _ := json.Marshal(target.Plain(o))
				if _, v := o.Check(text); v != nil || hasImage(text) {
					t.Errorf("%s, profile %s: %s: %v", o.ID, profile, text, v)
				}
			}
		}
	}
}
