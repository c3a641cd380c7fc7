package anthropic

import (
	"context"
	"slices"
	"time"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/internal/exchange"
)

// ListModels lists a page of the models that requests can name.
func (a *API) ListModels(ctx context.Context, in wire.ListModelsRequestObject) (wire.ListModelsResponseObject, error) {
	models, err := a.engine.Models(ctx)
	if err != nil {
		return nil, err
	}
	page, more, err := cut(inStages(models, in.Params.Lifecycle), in.Params)
	if err != nil {
		return nil, err
	}
	x := exchange.From(ctx)
	if err := x.HoldModels(page); err != nil {
		return nil, err
	}
	out := wire.NewModelList(more)
	for _, m := range page {
		out.Data = append(out.Data, fromModel(m))
	}
	if n := len(page); n > 0 {
		out.FirstID.Set(page[0].Name)
		out.LastID.Set(page[n-1].Name)
	}
	return answer{x, out}, nil
}

// inStages returns the models in any of the stages. All are active; without stages the
// list is whole.
func inStages(models []engine.Model, stages []wire.ModelLifecycle) []engine.Model {
	if len(stages) == 0 || slices.Contains(stages, wire.ModelLifecycleActive) {
		return models
	}
	return nil
}

// cut returns the requested page, and whether more models follow in that direction.
func cut(models []engine.Model, params wire.ListModelsParams) (page []engine.Model, more bool, err error) {
	limit := params.LimitOrDefault()
	if params.AfterID != nil {
		i, err := position(models, *params.AfterID, "after_id")
		if err != nil {
			return nil, false, err
		}
		models = models[i+1:]
	}
	if params.BeforeID != nil {
		i, err := position(models, *params.BeforeID, "before_id")
		if err != nil {
			return nil, false, err
		}
		models = models[:i]
		return models[max(0, len(models)-limit):], len(models) > limit, nil
	}
	return models[:min(limit, len(models))], len(models) > limit, nil
}

func position(models []engine.Model, name, param string) (int, error) {
	i := slices.IndexFunc(models, func(m engine.Model) bool { return engine.SameModel(m.Name, name) })
	if i < 0 {
		return 0, exchange.Invalid(param, "No model has the id '%s'.", name)
	}
	return i, nil
}

// fromModel dates a model of unknown age to 1970, as the vendor does:
// https://docs.anthropic.com/en/api/models-list
func fromModel(m engine.Model) wire.ModelInfo {
	if m.Changed.IsZero() {
		m.Changed = time.Unix(0, 0)
	}
	return wire.NewModelInfo(m.Name, m.Name, m.Changed.UTC())
}
