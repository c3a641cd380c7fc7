package anthropic

import (
	"context"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
)

// RetrieveModel describes one model.
func (a *API) RetrieveModel(ctx context.Context, in wire.RetrieveModelRequestObject) (wire.RetrieveModelResponseObject, error) {
	model, err := engine.FindModel(ctx, a.engine, in.Model)
	if err != nil {
		return nil, err
	}
	return wire.RetrieveModel200JSONResponse(fromModel(model)), nil
}
