package conformance

import (
	"net/http"
	"slices"
	"testing"

	"github.com/diglot/diglot/openapi"
)

// TestRefusedInReplies has a server that sends a field which diglot never sends.
func TestRefusedInReplies(t *testing.T) {
	for _, tt := range []struct {
		name, reply string
		marks       bool
		want        Outcome
	}{
		{"marks bind the server", `{"system_fingerprint":"f"}`, true, Fail},
		{"unknown field", `{"mood":"good"}`, false, Fail},
		{"marks bind nobody", `{"system_fingerprint":"f"}`, false, Pass},
	} {
		target := stubbed(t, func(*http.Request) (*http.Response, error) {
			return answerWith(http.StatusOK, tt.reply, "Content-Type", "application/json"), nil
		})
		target.Marks = tt.marks
		narrowed, err := target.Documents.Narrow(openapi.ProfileDefault)
		if err != nil {
			t.Fatal(err)
		}
		target.Documents = narrowed
		o, ok := target.Documents.OpenAI.Operation("createChatCompletion")
		if !ok {
			t.Fatal("no such operation")
		}
		all := watchers(OpenAI, o)
		i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == "openai/chat/"+aspectUnknown.name })
		asks := Scenario{Name: "openai/chat/asks", Run: func(t *Trial) { t.Do(Request{Path: o.Path, Body: `{}`}) }}
		report := Run(t.Context(), target, []Scenario{asks, all[i]}, Options{})
		if got := report.Results[1]; got.Outcome != tt.want {
			t.Errorf("%s: %s %v, want %s", tt.name, got.Outcome, got.Failures, tt.want)
		}
	}
}
