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
			Run:       func(t *Trial) { t.watch(o, a) },
		})
	}
	return all
}

func (t *Trial) watch(o *openapi.Operation, a aspect) {
	seen, count := map[string]bool{}, 0
	for _, x := range t.observedOf(o) {
		count++
		for _, f := range t.judge(o, x) {
			if f.aspect != a || seen[f.key] || f.refused() && !t.Marks {
				continue
			}
			seen[f.key] = true
			t.fail(Failure{Message: f.message, Document: f.document, Exchange: x})
		}
	}
	if count == 0 {
		t.Skipf("no request of this operation was sent")
	}
}

// observedOf returns the exchanges of an operation, the shortest requests first, so that
// the one that is shown with a failure is the smallest.
func (t *Target) observedOf(o *openapi.Operation) []*Exchange {
	document := t.Documents.OpenAI
	if own, _ := document.Operation(o.ID); own != o { // both have a listModels
		document = t.Documents.Anthropic
	}
	var all []*Exchange
	for _, x := range t.exchanges() {
		of, ok := document.Match(x.Method, x.Path)
		if !ok || of.ID != o.ID || !t.speaks(document, x) {
			continue
		}
		all = append(all, x)
	}
	sortBySize(all)
	return all
}

// speaks reports whether an exchange is one of the document's style: a path that both
// have is the Anthropic one if the request has a version header.
func (t *Target) speaks(document *openapi.Document, x *Exchange) bool {
	of, ok := t.Documents.ForPath(x.Path)
	if !ok {
		of = t.Documents.OpenAI
		if x.Sent.Get("Anthropic-Version") != "" {
			of = t.Documents.Anthropic
		}
	}
	return of == document
}
