package openai

import (
	"encoding/json"
	"testing"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

// bind is what the generated code and the operation do with a checked body.
func bind(body []byte) (*engine.Request, error) {
	var in wire.CreateChatCompletionRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req, err := toRequest(&in)
	return handlerstest.Checked(req, err, dialectOf(&in).place)
}

func FuzzToRequest(f *testing.F) {
	handlerstest.FuzzRequest(f, openapi.OpenAI, "createChatCompletion", handlerstest.ChatBody(), bind)
}

func BenchmarkToRequest(b *testing.B) {
	handlerstest.BenchmarkRequest(b, openapi.OpenAI, "createChatCompletion", handlerstest.ChatBody(), bind)
}
