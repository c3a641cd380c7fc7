package dialect_test

import (
	"net/http"
	"testing"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// TestReasoning reads reasoning in each spelling that servers have for it.
func TestReasoning(t *testing.T) {
	for _, tt := range []struct {
		name      string
		dialect   dialect.Dialect
		mediaType string
		body      string
	}{
		{"reasoning_content", dialect.Chat(), "application/json", `{"choices":[{"message":{"reasoning_content":"Why."}}]}`},
		{"reasoning", dialect.Chat(), "application/json", `{"choices":[{"message":{"reasoning":"Why."}}]}`},
		{"both", dialect.Chat(), "application/json", `{"choices":[{"message":{"reasoning":"Why.","reasoning_content":"Why."}}]}`},
		{"streamed reasoning", dialect.Chat(), "text/event-stream", `data: {"choices":[{"index":0,"delta":{"reasoning":"Why."}}]}` + "\n\n"},
		{"summary_text", dialect.Responses(), "application/json", `{"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Why."}]}]}`},
		{"reasoning_text", dialect.Responses(), "application/json", `{"output":[{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Why."}]}]}`},
		{"streamed reasoning_text", dialect.Responses(), "text/event-stream", `data: {"type":"response.reasoning_text.delta","delta":"Why."}` + "\n\n"},
	} {
		x := &conformance.Exchange{Header: http.Header{"Content-Type": {tt.mediaType}}, Body: []byte(tt.body)}
		a, err := tt.dialect.Read(x)
		if err != nil || a.First().Reasoning != "Why." {
			t.Errorf("%s: the reasoning is %q, %v", tt.name, a.First().Reasoning, err)
		}
	}
}
