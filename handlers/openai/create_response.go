package openai

import (
	"context"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// CreateResponse answers a conversation of items.
func (a *API) CreateResponse(ctx context.Context, in wire.CreateResponseRequestObject) (wire.CreateResponseResponseObject, error) {
	req, places, err := toResponseRequest(in.Body)
	if err != nil {
		return nil, err
	}
	r, err := newResponder(in.Body, newID, a.clock)
	if err != nil {
		return nil, err
	}
	x := exchange.From(ctx)
	// A stream is held as well: its last event repeats the whole answer.
	events := x.Hold(x.HideReasoning("ResponseOutputReasoning", places.name(x.Watch(req, a.engine.Generate(ctx, req), responseNames))))
	if !in.Body.StreamOrDefault() {
		response, err := engine.Collect(events)
		if err != nil {
			return nil, err
		}
		places.ignore(x, response.Unenforced)
		return answer{x, r.fromResponse(response)}, nil
	}

	stream, err := sse.Open(ctx, events)
	if err != nil {
		return nil, err
	}
	places.ignore(x, stream.Unenforced())
	return streamed{stream, newResponseEncoder(r, x)}, nil
}

// responseNames maps parameters of [engine.Start] to those of a response's request.
var responseNames = map[string]string{"reasoning_effort": "reasoning.effort"}
