package chat

import (
	"context"
	"errors"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// replyGrammar is what the text of the answer must follow; nil: anything.
func replyGrammar(ctx context.Context, f engine.Format) (grammar.Node, error) {
	switch f.Kind {
	case engine.FormatJSON:
		return grammar.JSONObject(), nil
	case engine.FormatSchema:
	default:
		return nil, nil
	}
	node, issues, err := grammar.Schema(ctx, f.Schema)
	place := engine.Place{Field: engine.FieldFormat}
	if err != nil {
		return nil, schemaError("The schema of the response format", place, err)
	}
	if len(issues) > 0 {
		place.Path = issues[0].Pointer
		return nil, engine.Errorf(engine.CodeUnsupported,
			"The schema of the response format uses the keyword %q at %q, which cannot be enforced.",
			issues[0].Keyword, issues[0].Pointer).At(place)
	}
	return node, nil
}

func schemaError(what string, place engine.Place, err error) error {
	var s *grammar.SchemaError
	if !errors.As(err, &s) {
		return engine.AsError(err)
	}
	place.Path = s.Pointer
	if s.Pointer == "" {
		return engine.Errorf(engine.CodeInvalidArgument, "%s cannot be used: %s", what, s.Reason).At(place).Because(err)
	}
	return engine.Errorf(engine.CodeInvalidArgument, "%s cannot be used, because of %q: %s", what, s.Pointer, s.Reason).At(place).Because(err)
}
