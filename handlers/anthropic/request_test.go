package anthropic

import (
	"encoding/json"
	"testing"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

// bind is what the generated code and the operation do with a checked body.
func bind(body []byte) (*engine.Request, error) {
	var in wire.CreateMessageRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req, _, err := toRequest(&in)
	return handlerstest.Checked(req, err, fromPlace)
}

func FuzzToRequest(f *testing.F) {
	handlerstest.FuzzRequest(f, openapi.Anthropic, "createMessage", handlerstest.MessagesBody(), bind)
}

func BenchmarkToRequest(b *testing.B) {
	handlerstest.BenchmarkRequest(b, openapi.Anthropic, "createMessage", handlerstest.MessagesBody(), bind)
}
