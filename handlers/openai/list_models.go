package openai

import (
	"context"
	"net/http"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
)

// ListModels lists the models that requests can name.
func (a *API) ListModels(ctx context.Context, _ wire.ListModelsRequestObject) (wire.ListModelsResponseObject, error) {
	models, err := a.engine.Models(ctx)
	if err != nil {
		return nil, err
	}
	if err := exchange.From(ctx).HoldModels(models); err != nil {
		return nil, err
	}
	out := modelListReply{Object: wire.ModelListObjectList, Data: make([]wire.Model, 0, len(models))}
	for _, m := range models {
		out.Data = append(out.Data, fromModel(m))
	}
	return out, nil
}

// modelListReply is the reply.
type modelListReply wire.ModelList

// VisitListModelsResponse writes the reply.
func (r modelListReply) VisitListModelsResponse(w http.ResponseWriter) error {
	return exchange.Reply(w, r)
}

func fromModel(m engine.Model) wire.Model {
	out := wire.Model{ID: m.Name, Object: wire.ModelObjectModel, OwnedBy: m.Owner}
	if !m.Changed.IsZero() {
		out.Created = m.Changed.Unix()
	}
	return out
}
