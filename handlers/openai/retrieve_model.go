package openai

import (
	"context"
	"net/http"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
)

// RetrieveModel describes one model.
func (a *API) RetrieveModel(ctx context.Context, in wire.RetrieveModelRequestObject) (wire.RetrieveModelResponseObject, error) {
	model, err := engine.FindModel(ctx, a.engine, in.Model)
	if err != nil {
		return nil, err
	}
	return modelReply(fromModel(model)), nil
}

// modelReply is the reply.
type modelReply wire.Model

// VisitRetrieveModelResponse writes the reply.
func (r modelReply) VisitRetrieveModelResponse(w http.ResponseWriter) error {
	return exchange.Reply(w, r)
}
