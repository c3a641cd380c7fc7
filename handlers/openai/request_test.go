package openai

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// FuzzToRequest holds that what passes the document can be bound, and mapped
// without a panic to a request that has all that an engine counts on.
func FuzzToRequest(f *testing.F) {
	document, err := openapi.OpenAI()
	if err != nil {
		f.Fatal(err)
	}
	operation, _ := document.Operation("createChatCompletion")
	f.Add(handlerstest.ChatBody())
	for _, example := range operation.Examples {
		f.Add([]byte(example))
	}
	cases, err := conformance.Cases(operation)
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		f.Add(c.Body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		checked, v := operation.Check(body)
		if v != nil {
			return
		}
		var in wire.CreateChatCompletionRequest
		if err := json.Unmarshal(checked.Body, &in); err != nil {
			t.Fatalf("passed the document and cannot be bound: %v", err)
		}
		req, err := toRequest(&in)
		var coded *engine.Error
		if err != nil && !errors.As(err, &coded) {
			t.Fatalf("passed the document and cannot be mapped: %v", err)
		}
		if err == nil && (len(req.Messages) == 0 || req.Choices < 1) {
			t.Errorf("a request without messages or choices: %+v", req)
		}
	})
}

// BenchmarkToRequest compares all that happens to a body before the engine
// sees it with decoding the same bytes into any. Five times is the most that
// it may cost.
func BenchmarkToRequest(b *testing.B) {
	document, err := openapi.OpenAI()
	if err != nil {
		b.Fatal(err)
	}
	operation, _ := document.Operation("createChatCompletion")
	body := handlerstest.ChatBody()
	b.Run("unmarshal into any", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			var v any
			if err := json.Unmarshal(body, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check, bind and map", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			checked, v := operation.Check(body)
			if v != nil {
				b.Fatal(v)
			}
			var in wire.CreateChatCompletionRequest
			if err := json.Unmarshal(checked.Body, &in); err != nil {
				b.Fatal(err)
			}
			if _, err := toRequest(&in); err != nil {
				b.Fatal(err)
			}
		}
	})
}
