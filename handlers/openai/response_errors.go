package openai

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
)

// itemPlaces maps messages to the input items that they begin with.
type itemPlaces []int

// Messages that are not items.
const (
	instructionsPlace = -1
	wholeInputPlace   = -2
)

// fromPlace returns the path in a response's request.
func (p itemPlaces) fromPlace(place engine.Place) string {
	switch place.Field {
	case engine.FieldMessages:
		return p.fromMessage(place.Index)
	case engine.FieldTools:
		return fmt.Sprintf("tools[%d].parameters", place.Index) + exchange.Dotted(place.Path)
	case engine.FieldToolName:
		return fmt.Sprintf("tools[%d].name", place.Index)
	case engine.FieldFormat:
		return "text.format.schema" + exchange.Dotted(place.Path)
	case engine.FieldMaxTokens:
		return "max_output_tokens"
	}
	return fromPlace(place)
}

func (p itemPlaces) fromMessage(index int) string {
	if index >= len(p) || p[index] == wholeInputPlace {
		return "input"
	}
	if p[index] == instructionsPlace {
		return "instructions"
	}
	return fmt.Sprintf("input[%d]", p[index])
}

// name sets the paths of this request in errors among the events.
func (p itemPlaces) name(events iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	return nameErrors(events, func(err *engine.Error) string {
		switch {
		case err.Param != "":
			return err.Param
		case err.Code == engine.CodeContextLength:
			return "input" // the input as a whole is too long
		}
		return p.fromPlace(err.Place)
	})
}

// ignore reports the parts of tool schemas that no grammar can enforce.
func (p itemPlaces) ignore(x *exchange.Exchange, places []engine.Place) {
	for _, place := range places {
		x.Ignore(x.Locate(p.fromPlace(place)))
	}
}

// fromResponseError returns the error of a failed response. Codex retries after
// server_error and rate_limit_exceeded, and stops after other codes.
func fromResponseError(x *exchange.Exchange, err *engine.Error) wire.ResponseError {
	code := cmp.Or(x.Error(err).Failed, string(wire.ResponseErrorCodeServerError))
	return wire.ResponseError{Code: wire.ResponseErrorCode(code), Message: err.Message}
}
