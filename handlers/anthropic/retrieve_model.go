package anthropic

import (
	"context"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/internal/exchange"
)

// RetrieveModel describes one model.
func (a *API) RetrieveModel(ctx context.Context, in wire.RetrieveModelRequestObject) (wire.RetrieveModelResponseObject, error) {
	model, err := engine.FindModel(ctx, a.engine, in.Model)
	if err != nil {
		return nil, err
	}
	return answer{exchange.From(ctx), fromModel(model)}, nil
}
