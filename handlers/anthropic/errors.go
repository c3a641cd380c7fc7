package anthropic

import (
	"fmt"
	"net/http"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/internal/plainjson"
	"github.com/diglot/diglot/openapi"
)

// WriteError answers with an error.
func WriteError(w http.ResponseWriter, r *http.Request, err *engine.Error) {
	x := exchange.From(r.Context())
	x.Answer(w, err, x.Error(err).Status, fromError(x, err))
}

func fromError(x *exchange.Exchange, err *engine.Error) []byte {
	e := wire.Error{Type: wire.ErrorType(x.Error(err).Type), Message: message(err, x.Locate)}
	if err.Detail != "" {
		e.Details = new(wire.NewErrorDetails(err.Detail))
	}
	out := wire.NewErrorResponse(e)
	out.RequestID.Set(x.ID)
	body, _ := plainjson.Marshal(out) // only strings: cannot fail
	return body
}

// message includes the path, because errors of this style have no field for it.
func message(err *engine.Error, locate func(string) string) string {
	if err.Code == engine.CodeContextLength && err.Tokens > 0 {
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", err.Tokens, err.Limit)
	}
	place := err.Param
	if place == "" {
		place = fromPlace(err.Place)
	}
	if place == "" {
		return err.Message
	}
	return locate(place) + ": " + err.Message
}

// fromPlace returns this style's path for a place in the neutral request.
func fromPlace(p engine.Place) string {
	switch p.Field {
	case engine.FieldMessages:
		return "messages" // without index: one message here may be several there
	case engine.FieldTools:
		return fmt.Sprintf("tools.%d.input_schema", p.Index) + exchange.Dotted(p.Path)
	case engine.FieldToolName:
		return fmt.Sprintf("tools.%d.name", p.Index)
	case engine.FieldToolChoice:
		return "tool_choice" + exchange.Dotted(p.Path)
	case engine.FieldFormat:
		return "output_config.format.schema" + exchange.Dotted(p.Path)
	}
	return string(p.Field)
}

// fromViolation turns a violation of the document into an error.
func fromViolation(v *openapi.Violation) *engine.Error {
	err := engine.Errorf(engine.CodeInvalidArgument, "%s", v.Reason)
	switch {
	case v.Rule == openapi.RuleRefused || v.Rule == openapi.RuleIgnored || v.Mark.Server == openapi.SupportPartial:
		err.Code, err.Detail = engine.CodeUnsupported, v.Mark.Detail
	case len(v.Pointer) == 0:
		err.Message = "The request body " + v.Reason + "."
	}
	err.Param = v.Path()
	return err
}
