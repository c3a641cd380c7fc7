package upstream

import (
	"fmt"

	"github.com/diglot/diglot/engine"
)

// Errors decides what the failures of a server mean to whoever asks. The
// default is for a server that its clients know nothing of: what it says of
// itself is for the log.
type Errors interface {
	// Refused is the error for one that the server tells.
	Refused(Report) *engine.Error

	// Lost is the error of a server that cannot be reached, or that breaks off.
	Lost() *engine.Error
}

// Report is an error in the words of the server.
type Report struct {
	Status  int    // of HTTP; 0: it came within a reply
	Code    string // a word; empty: none
	Message string // empty: the server tells none that can be read
}

// Own is the [Errors] of a server that runs this very program, for the user of
// that server: its words are meant for them.
type Own struct {
	Ended string // the sentence for a server that is gone: how to start it
}

// Refused implements [Errors]. It is the way back from what handlers/openai
// makes of an error.
func (o Own) Refused(r Report) *engine.Error {
	code, known := ownCodes[r.Code]
	if !known {
		code, known = ownStatuses[r.Status]
	}
	if !known {
		code = engine.CodeInternal
	}
	message := r.Message
	if message == "" {
		message = fmt.Sprintf("The diglot server answers with status %d, and does not say why.", r.Status)
	}
	return &engine.Error{Code: code, Message: message} // whole: the server has cut what is too long
}

// Lost implements [Errors].
func (o Own) Lost() *engine.Error {
	return &engine.Error{Code: engine.CodeEngineCrashed, Message: o.Ended}
}

// ownCodes are the words of the style that stand for one code alone.
var ownCodes = map[string]engine.Code{
	"unsupported_value":       engine.CodeUnsupported,
	"unsupported_parameter":   engine.CodeUnsupported,
	"context_length_exceeded": engine.CodeContextLength,
	"invalid_api_key":         engine.CodeUnauthenticated,
	"forbidden":               engine.CodeForbidden,
	"model_not_found":         engine.CodeModelNotFound,
	"not_found":               engine.CodeNotFound,
	"method_not_allowed":      engine.CodeMethodNotAllowed,
	"upgrade_required":        engine.CodeUpgrade,
	"request_too_large":       engine.CodeTooLarge,
	"unsupported_media_type":  engine.CodeMediaType,
	"canceled":                engine.CodeCanceled,
	"internal_error":          engine.CodeInternal,
	"engine_crashed":          engine.CodeEngineCrashed,
	"overloaded":              engine.CodeOverloaded,
	"timeout":                 engine.CodeDeadline,
}

// ownStatuses are for errors without such a word, or with one that says more
// than the code.
var ownStatuses = map[int]engine.Code{
	400: engine.CodeInvalidArgument,
	401: engine.CodeUnauthenticated,
	403: engine.CodeForbidden,
	404: engine.CodeNotFound,
	405: engine.CodeMethodNotAllowed,
	413: engine.CodeTooLarge,
	426: engine.CodeUpgrade,
	415: engine.CodeMediaType,
	502: engine.CodeEngineCrashed,
	503: engine.CodeOverloaded,
	504: engine.CodeDeadline,
}
