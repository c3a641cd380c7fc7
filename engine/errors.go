package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Code is a closed list of what can go wrong. The document of each style says
// which status and words a Code has.
type Code string

// The closed list of codes.
const (
	CodeInvalidArgument  Code = "invalid_argument"   // the client's mistake
	CodeUnsupported      Code = "unsupported"        // understood, and refused on purpose
	CodeContextLength    Code = "context_length"     // the prompt leaves no room for one token
	CodeUnauthenticated  Code = "unauthenticated"    // no key, or a wrong one
	CodeForbidden        Code = "forbidden"          // the Host or Origin is not allowed
	CodeModelNotFound    Code = "model_not_found"    // no such model
	CodeNotFound         Code = "not_found"          // no such path
	CodeMethodNotAllowed Code = "method_not_allowed" // the path exists, the method does not
	CodeUpgrade          Code = "upgrade"            // another protocol than HTTP is wanted
	CodeTooLarge         Code = "too_large"          // the body is over the limit
	CodeMediaType        Code = "media_type"         // the body is not JSON
	CodeOverloaded       Code = "overloaded"         // the queue is full; worth a retry
	CodeCanceled         Code = "canceled"           // the client left
	CodeDeadline         Code = "deadline"           // took too long
	CodeInternal         Code = "internal"           // our mistake
	CodeEngineCrashed    Code = "engine_crashed"     // the model's process died
)

// Field names a part of a request; a style maps it to its own parameter.
type Field string

// The closed list of fields that an engine complains about, with the names of
// [SamplingParams].
const (
	FieldModel      Field = "model"
	FieldMessages   Field = "messages"
	FieldTools      Field = "tools"     // a tool's parameters
	FieldToolName   Field = "tool_name" // a tool's name
	FieldToolChoice Field = "tool_choice"
	FieldFormat     Field = "format"
	FieldLogitBias  Field = "logit_bias"
	FieldMaxTokens  Field = "max_tokens"
	FieldChoices    Field = "choices"
	FieldBestOf     Field = "best_of"
	FieldLogprobs   Field = "logprobs"
	FieldReasoning  Field = "reasoning"
	FieldPrompt     Field = "prompt" // of a [Request] or an [ImageRequest]
	FieldSuffix     Field = "suffix"
	FieldInput      Field = "input" // of an [EmbeddingRequest]
	FieldDimensions Field = "dimensions"
	FieldSize       Field = "size" // of an [ImageRequest]
)

// Place points into a request.
type Place struct {
	Field Field
	Index int    // of the message, tool or input; 0 elsewhere
	Path  string // below it: a JSON pointer into a schema, or empty
}

// Extent is how many of what a [Place] has an index for are in a request.
type Extent struct{ Messages, Tools, Inputs int }

// Extent is that of r.
func (r *Request) Extent() Extent { return Extent{Messages: len(r.Messages), Tools: len(r.Tools)} }

// Extent is that of r.
func (r *EmbeddingRequest) Extent() Extent { return Extent{Inputs: len(r.Inputs)} }

// Check says whether a place can be one in a request of extent x.
func (p Place) Check(x Extent) error {
	size := 1 // of what there is one of
	switch p.Field {
	case FieldMessages:
		size = max(x.Messages, 1)
	case FieldTools, FieldToolName:
		size = max(x.Tools, 1)
	case FieldInput:
		size = max(x.Inputs, 1)
	case "", FieldModel, FieldToolChoice, FieldFormat, FieldLogitBias, FieldMaxTokens, FieldChoices, FieldBestOf, FieldLogprobs, FieldReasoning, FieldPrompt, FieldSuffix, FieldDimensions, FieldSize:
	default:
		if isSamplingParam(string(p.Field)) {
			break
		}
		return fmt.Errorf("a place in %q, which is no field", cut(string(p.Field)))
	}
	switch {
	case p.Index < 0 || p.Index >= size:
		return fmt.Errorf("place %d of %d in %s", p.Index, size, p.Field)
	case len(p.Path) > MaxText || !utf8.ValidString(p.Path):
		return fmt.Errorf("a path of %d bytes in %s: %q", len(p.Path), p.Field, cut(p.Path))
	}
	return nil
}

// Error is what every layer below the handlers returns. Message is for the
// client and must make sense to it; Err is for the log and never sent.
type Error struct {
	Code       Code
	Message    string
	Place      Place  // what the engine complains about; zero where it is nothing in particular
	Param      string // the parameter in the style's own words; set by the style
	RetryAfter int    // seconds; for CodeOverloaded
	NoRetry    bool   // a retry would fail in the same way, whatever the status says
	Detail     string // a machine-readable reason below the code, where a client knows one
	Tokens     int    // of the prompt; for CodeContextLength
	Limit      int    // that they are over; for CodeContextLength
	Err        error
}

// Errorf makes an Error whose message is for the client. A message that
// quotes a client at length is cut.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: cut(fmt.Sprintf(format, args...))}
}

// MaxText is the most bytes of a text in an Error: names that a client made up
// may have megabytes, and need not come back to it, or go to the log.
const MaxText = 1000

// cut cuts a text to MaxText, its mark included.
func cut(text string) string {
	if len(text) <= MaxText {
		return text
	}
	const mark = "…"
	return strings.ToValidUTF8(text[:MaxText-len(mark)], "") + mark
}

// At says where in the request the error is.
func (e *Error) At(p Place) *Error {
	e.Place = p
	return e
}

// Because adds the cause, for the log.
func (e *Error) Because(err error) *Error {
	e.Err = err
	return e
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	if e.Param != "" {
		b.WriteString(" (" + e.Param + ")")
	}
	b.WriteString(": " + e.Message)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// AsError makes an *Error of any error: a coded one is returned as it is, an
// ended context becomes canceled or deadline, and anything else is internal,
// its text kept for the log alone.
func AsError(err error) *Error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return Errorf(CodeCanceled, "The request was canceled.").Because(err)
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(CodeDeadline, "The request took too long.").Because(err)
	}
	return Errorf(CodeInternal, "Internal error.").Because(err)
}
