package openai

import (
	"context"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// CreateCompletion continues a text.
func (a *API) CreateCompletion(ctx context.Context, in wire.CreateCompletionRequestObject) (wire.CreateCompletionResponseObject, error) {
	req, err := toCompletionRequest(in.Body)
	if err != nil {
		return nil, err
	}
	x := exchange.From(ctx)
	events := x.Watch(req, a.engine.Generate(ctx, req), nil)
	h := head{id: newID("cmpl-"), created: a.clock().Unix(), model: req.Model}
	if !in.Body.StreamOrDefault() {
		response, err := engine.Collect(x.Hold(events))
		if err != nil {
			return nil, err
		}
		return answer{x, fromCompletion(h, response, req.Logprobs != nil)}, nil
	}

	stream, err := sse.Open(ctx, events)
	if err != nil {
		return nil, err
	}
	return streamed{stream, newCompletionEncoder(h, req, wantsUsage(in.Body.StreamOptions), x)}, nil
}
