package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Code classifies errors. Each style's document maps it to a status and an
// error type.
type Code string

// The closed list of codes.
const (
	CodeInvalidArgument  Code = "invalid_argument"   // the client's mistake
	CodeUnsupported      Code = "unsupported"        // understood, but not supported
	CodeContextLength    Code = "context_length"     // the prompt fills the context
	CodeUnauthenticated  Code = "unauthenticated"    // no key, or a wrong one
	CodeForbidden        Code = "forbidden"          // the Host or Origin is not allowed
	CodeModelNotFound    Code = "model_not_found"    // no such model
	CodeNotFound         Code = "not_found"          // no such path
	CodeMethodNotAllowed Code = "method_not_allowed" // the path exists, the method does not
	CodeUpgrade          Code = "upgrade"            // a protocol upgrade was requested
	CodeTooLarge         Code = "too_large"          // the body is over the limit
	CodeMediaType        Code = "media_type"         // the body is not JSON
	CodeOverloaded       Code = "overloaded"         // the queue is full; worth a retry
	CodeCanceled         Code = "canceled"           // the client disconnected
	CodeDeadline         Code = "deadline"           // took too long
	CodeInternal         Code = "internal"           // a bug of the server
	CodeEngineCrashed    Code = "engine_crashed"     // the model's process died
)

// Field names a field of a neutral request; a style maps it to its own parameter.
type Field string

// The closed list of fields that errors are about, beside the names of
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

// Place is the part of a request that an error is about.
type Place struct {
	Field Field
	Index int    // of the message, tool or input; 0 elsewhere
	Path  string // JSON Pointer into the field's schema; may be empty
}

// Extent holds the lengths of the lists that [Place.Index] refers to.
type Extent struct{ Messages, Tools, Inputs int }

// Extent returns the lengths of the lists in r.
func (r *Request) Extent() Extent { return Extent{Messages: len(r.Messages), Tools: len(r.Tools)} }

// Extent returns the lengths of the lists in r.
func (r *EmbeddingRequest) Extent() Extent { return Extent{Inputs: len(r.Inputs)} }

// Check reports an error unless p can be a place in a request of extent x.
func (p Place) Check(x Extent) error {
	size := 1
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
		return fmt.Errorf("unknown field %q", cut(string(p.Field)))
	}
	switch {
	case p.Index < 0 || p.Index >= size:
		return fmt.Errorf("index %d of %d in %s", p.Index, size, p.Field)
	case len(p.Path) > MaxText || !utf8.ValidString(p.Path):
		return fmt.Errorf("a path of %d bytes in %s: %q", len(p.Path), p.Field, cut(p.Path))
	}
	return nil
}

// Error is the error type of every layer below the handlers. Message is sent
// to the client; Err is only logged.
type Error struct {
	Code       Code
	Message    string
	Place      Place  // what is wrong in the request; zero: nothing in particular
	Param      string // the parameter as the style names it; set by the style
	RetryAfter int    // seconds; for CodeOverloaded
	NoRetry    bool   // a retry would fail the same way, whatever the status suggests
	Detail     string // a machine-readable reason, if the style's clients know one
	Tokens     int    // of the prompt; for CodeContextLength
	Limit      int    // that Tokens exceeds; for CodeContextLength
	Err        error
}

// Errorf returns an Error with a message for the client, cut to [MaxText].
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: cut(fmt.Sprintf(format, args...))}
}

// MaxText limits the texts of an Error, in bytes: names chosen by a client may
// be megabytes long, and belong neither in the reply nor in the log.
const MaxText = 1000

// cut truncates text to MaxText, ellipsis included.
func cut(text string) string {
	if len(text) <= MaxText {
		return text
	}
	const ellipsis = "…"
	return strings.ToValidUTF8(text[:MaxText-len(ellipsis)], "") + ellipsis
}

// At sets the part of the request that the error is about.
func (e *Error) At(p Place) *Error {
	e.Place = p
	return e
}

// Because sets the cause, for the log.
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

// AsError converts any error: an *Error in its chain is returned as it is, an
// ended context becomes canceled or deadline, and anything else internal, with
// its text only in the log.
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
