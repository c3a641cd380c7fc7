package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/mock"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// newReplyField adds a required field to chat completions.
var newReplyField = [2]string{
	"      required: [id, object, created, model, choices, usage]\n      properties:\n        id:\n          x-order: 1\n          type: string\n          description: Identifies the completion.\n",
	"      required: [id, object, created, model, choices, usage, fresh]\n      properties:\n        fresh: {type: string, description: It is new.}\n        id:\n          x-order: 1\n          type: string\n          description: Identifies the completion.\n",
}

// TestNewField adds a field with a mark to a document, and nothing else: it is in the
// validator, the matrix, the page, the kit, and a server without a model.
func TestNewField(t *testing.T) {
	documents := own(t)
	documents.Anthropic = handlerstest.Edited(t, "anthropic.yaml", newField[0], newField[1])
	operation, _ := documents.Anthropic.Operation("createMessage")
	const body = `{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"Hi."}],"fresh":"abc"}`

	if _, v := operation.Check([]byte(body)); v == nil || v.Param() != "fresh" || v.Rule != openapi.RuleRefused {
		t.Errorf("validator: %v", v)
	}
	inMatrix := false
	for _, row := range operation.Matrix() {
		inMatrix = inMatrix || row.Field == "fresh"
	}
	if !inMatrix {
		t.Error("matrix: it lacks the field")
	}
	if page := rendered(t, documents)["site/anthropic/createMessage.html"]; !strings.Contains(page, "<code>fresh</code>") {
		t.Error("page: it lacks the field")
	}

	edited, unedited := mockServer(t, documents), mockServer(t, own(t))
	reply, err := http.Post(edited+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != http.StatusBadRequest {
		t.Errorf("server without a model: status %d, want 400", reply.StatusCode)
	}
	for url, want := range map[string]conformance.Outcome{edited: conformance.Pass, unedited: conformance.Fail} {
		if got := outcome(t, url, documents, "anthropic/messages/field/fresh"); got != want {
			t.Errorf("kit: %s, want %s", got, want)
		}
	}
}

// TestNewReplyField requires a field of replies that the server does not send, and nothing
// else: the kit misses it, in plain replies and in streams.
func TestNewReplyField(t *testing.T) {
	documents := own(t)
	documents.OpenAI = handlerstest.Edited(t, "openai.yaml", newReplyField[0], newReplyField[1])
	if got := outcome(t, mockServer(t, own(t)), documents, "openai/chat/reply-required-fields"); got != conformance.Fail {
		t.Errorf("kit: %s, want a failure", got)
	}
}

// mockServer is this server over an engine without a model.
func mockServer(t *testing.T, documents openapi.Documents) string {
	t.Helper()
	engine, err := mock.New(mock.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := handlers.New(handlers.Config{Engine: engine, Log: slog.New(slog.DiscardHandler), Documents: documents})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// outcome is that of one generated scenario, with those of the examples, whose replies it
// may judge.
func outcome(t *testing.T, url string, documents openapi.Documents, name string) conformance.Outcome {
	t.Helper()
	target := &conformance.Target{BaseURL: url, Documents: documents, Marks: true, Models: conformance.Models{Text: "m"}}
	all, err := target.Generated()
	if err != nil {
		t.Fatal(err)
	}
	var chosen []conformance.Scenario
	for _, s := range all {
		if s.Name == name || strings.HasSuffix(s.Name, "/examples") {
			chosen = append(chosen, s)
		}
	}
	for _, r := range conformance.Run(t.Context(), target, chosen, conformance.Options{}).Results {
		if r.Name == name {
			return r.Outcome
		}
	}
	t.Fatalf("the kit has no scenario %s", name)
	return ""
}
