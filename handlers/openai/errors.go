package openai

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/internal/plainjson"
	"github.com/diglot/diglot/openapi"
)

// unsupportedParameter is the document's error detail for a parameter that is unsupported
// whatever its value.
const unsupportedParameter = "parameter"

// WriteError answers with an error.
func WriteError(w http.ResponseWriter, r *http.Request, err *engine.Error) {
	x := exchange.From(r.Context())
	x.Answer(w, err, x.Error(err).Status, fromError(x, err))
}

func fromError(x *exchange.Exchange, err *engine.Error) []byte {
	body, _ := plainjson.Marshal(wire.ErrorResponse{Error: fromErrorObject(x, err)}) // only strings: cannot fail
	return body
}

func fromErrorObject(x *exchange.Exchange, err *engine.Error) wire.Error {
	row := x.Error(err)
	e := wire.NewError(err.Message, wire.ErrorType(row.Type))
	if row.Code != "" {
		e.Code.Set(row.Code)
	}
	param := fromPlace(err.Place)
	if err.Code == engine.CodeContextLength && err.Place.Field == engine.FieldMessages {
		param = "messages" // the messages as a whole are too long
	}
	if param = cmp.Or(err.Param, param); param != "" {
		e.Param.Set(x.Locate(param))
	}
	return e
}

// ErrorCode is the inverse: the engine's code for an error of another diglot server, by
// status, if any, and code.
func ErrorCode(status int, code string) engine.Code {
	document, err := openapi.OpenAI()
	if err != nil {
		return engine.CodeInternal
	}
	e, ok := document.ErrorOf(status, code)
	if !ok {
		return engine.CodeInternal
	}
	name, _, _ := strings.Cut(e.Name, ".")
	return engine.Code(name)
}

// fromPlace returns this style's path for a place in the neutral request.
func fromPlace(p engine.Place) string {
	switch p.Field {
	case engine.FieldMessages:
		return fmt.Sprintf("messages[%d]", p.Index)
	case engine.FieldTools:
		return fmt.Sprintf("tools[%d].function.parameters", p.Index) + exchange.Dotted(p.Path)
	case engine.FieldToolName:
		return fmt.Sprintf("tools[%d].function.name", p.Index)
	case engine.FieldFormat:
		return "response_format.json_schema.schema" + exchange.Dotted(p.Path)
	case engine.FieldMaxTokens:
		return "max_completion_tokens"
	case engine.FieldChoices:
		return "n"
	case engine.FieldInput:
		return fmt.Sprintf("input[%d]", p.Index)
	}
	return string(p.Field)
}

// nameErrors sets the parameter of the errors among events, where a request has
// other names for its places than [fromPlace].
func nameErrors(events iter.Seq2[engine.Event, error], param func(*engine.Error) string) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for event, err := range events {
			if coded := (*engine.Error)(nil); errors.As(err, &coded) {
				named := *coded
				named.Param = param(coded)
				err = &named
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// fromViolation turns a violation of the document into an error.
func fromViolation(v *openapi.Violation) *engine.Error {
	param := v.Param()
	err := engine.Errorf(engine.CodeInvalidArgument, "Invalid value for '%s': it %s.", param, v.Reason)
	switch {
	case param == "":
		err.Message = fmt.Sprintf("Invalid request body: it %s.", v.Reason)
	case v.Rule == openapi.RuleRequired:
		err.Message = fmt.Sprintf("Missing required parameter: '%s'.", param)
	case v.Rule == openapi.RuleRefused || v.Rule == openapi.RuleIgnored:
		err.Code, err.Detail = engine.CodeUnsupported, unsupportedParameter
		err.Message = fmt.Sprintf("Unsupported parameter: '%s' %s.", param, v.Reason)
	case v.Mark.Server == openapi.SupportPartial:
		err.Code = engine.CodeUnsupported
		err.Message = fmt.Sprintf("Unsupported value for '%s': it %s.", param, v.Reason)
	}
	err.Param = param
	return err
}
