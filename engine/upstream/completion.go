package upstream

import (
	"context"
	"io"
	"net/http"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
)

// completion asks for the continuation of a raw prompt.
func (e *Engine) completion(req *engine.Request) operation {
	return operation{
		name: completions,
		send: func(ctx context.Context, in io.Reader, dress wire.RequestEditorFn) (*http.Response, error) {
			return e.client.CreateCompletionWithBody(ctx, jsonType, in, e.rewriteURL, dress)
		},
		build:    func(l *fallback) (*body, error) { return e.fromCompletion(req, newOptionalFields(l)) },
		affinity: affinity(e.config.Model, e.config.Examples, req),
	}
}

func (e *Engine) fromCompletion(req *engine.Request, m *optionalFields) (*body, error) {
	out := wire.CreateCompletionRequest{
		Model:          e.config.Model,
		Stop:           fromStop(req.Stop),
		ResponseFormat: fromFormat(req.Format),
		Logprobs:       optional(req.Logprobs),
		Suffix:         optionalString(req.Prompt.Suffix),
	}
	if req.MaxTokens != nil {
		out.MaxTokens.Set(int64(*req.MaxTokens)) // the only name in this operation
	}
	setUnion(&out.Prompt, req.Prompt.Text)
	if req.Choices > 1 {
		out.N.Set(req.Choices)
	}
	if req.Prompt.Echo {
		out.Echo.Set(true)
	}
	m.sampling(req.Sampling)
	m.used.MaxTokens = req.MaxTokens
	if req.BestOf > req.Choices {
		out.BestOf.Set(req.BestOf) // cannot be streamed: the best is known only at the end
	} else {
		m.stream()
	}
	return m.body(out)
}
