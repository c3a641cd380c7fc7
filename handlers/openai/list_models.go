package openai

import (
	"context"

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
	x := exchange.From(ctx)
	if err := x.HoldModels(models); err != nil {
		return nil, err
	}
	out := wire.NewModelList()
	for _, m := range models {
		out.Data = append(out.Data, fromModel(m))
	}
	return answer{x, out}, nil
}

func fromModel(m engine.Model) wire.Model {
	created := int64(0) // not known
	if !m.Changed.IsZero() {
		created = m.Changed.Unix()
	}
	return wire.NewModel(m.Name, created, m.Owner)
}
