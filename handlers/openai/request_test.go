package openai

import (
	"encoding/json"
	"testing"

	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

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
