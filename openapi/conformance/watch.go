package conformance

import (
	"fmt"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// Subject names an operation in scenarios: the last part of its path without /v1: chat, messages, models.
func Subject(o *openapi.Operation) string {
	path := strings.TrimPrefix(o.Path, "/v1/")
	path = strings.ReplaceAll(strings.ReplaceAll(path, "/{model}", "-retrieve"), "/", "-")
	return strings.TrimSuffix(strings.TrimSuffix(path, "-completions"), "-generations")
}

// watchers are scenarios that send nothing themselves: each holds one aspect of all replies
// of an operation, whoever asked for them, against the document.
func watchers(style Style, o *openapi.Operation) []Scenario {
	var all []Scenario
	for _, a := range aspects(o) {
		all = append(all, Scenario{
			Name:      fmt.Sprintf("%s/%s/%s", style, Subject(o), a.name),
			About:     a.about,
			Operation: o.ID,
			watches:   true,
			Run:       func(t *Trial) { t.watch(style, o, a) },
		})
	}
	return all
}

func (t *Trial) watch(style Style, o *openapi.Operation, a aspect) {
	if a.ours && !t.Marks {
		t.Skipf("the vendors' documents leave this open; --marks holds a server to it")
	}
	deviations, sent := t.deviations(operation{style, o.ID}, a)
	if !sent {
		t.Skipf("no request of this operation was sent")
	}
	for _, d := range deviations {
		if !d.ours || t.Marks {
			t.fail(Failure{Message: d.message, Document: d.document, Exchange: d.exchange})
		}
	}
}
