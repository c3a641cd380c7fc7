package upstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/diglot/diglot/engine"
)

// refused is what a refusal means to the client, and whether to try again.
func (e *Engine) refused(r refusal, op operation) *failure {
	if e.config.Errors != nil {
		return &failure{err: e.told(r, op), again: r.status == 429 || r.status == 503, after: r.after}
	}
	err := e.refusedRequest(r, op)
	if err == nil {
		return e.failed(r)
	}
	return &failure{err: err.Because(r)}
}

// told is a refusal in the words of the configuration. The numbers of a prompt
// that is too long are read as of any server.
func (e *Engine) told(r refusal, op operation) *engine.Error {
	if r.tooLong() {
		return r.contextLength(op).Because(r)
	}
	err := e.config.Errors.Refused(Report{Status: r.status, Code: r.code, Message: r.message}).Because(r)
	err.RetryAfter = r.seconds()
	return err.At(place(r.param))
}

// refusedRequest is the error of a request that would be refused again.
func (e *Engine) refusedRequest(r refusal, op operation) *engine.Error {
	switch {
	case r.tooLong():
		return r.contextLength(op)
	case r.status == 401 || r.status == 403:
		return lasting(engine.CodeInternal,
			"The server %s, which serves the model, does not accept the key of this server, or wants one: diglot login %s sets it.", e.host, e.host)
	case r.status == 402 || r.code == "insufficient_quota":
		return lasting(engine.CodeInternal, "The account at %s, which serves the model, has nothing left to spend.", e.host)
	case r.code == "model_not_found" && op.name == images: // or one that draws none, which the message may say
		return engine.Errorf(engine.CodeModelNotFound, "%s", cmp.Or(r.message, e.cannot(op).Message)).At(engine.Place{Field: engine.FieldModel})
	case r.code == "model_not_found" || r.status == 404 && op.name == chatCompletions:
		return engine.Errorf(engine.CodeModelNotFound, "The model %q does not exist at %s, which is to serve it.", e.config.Model, e.host).
			At(engine.Place{Field: engine.FieldModel})
	case r.status == 404 || r.status == 405 || r.status == 501 || op.foreign && r.status < 500 && r.status != 408 && r.status != 429:
		return e.cannot(op)
	case r.status == 413:
		return engine.Errorf(engine.CodeTooLarge, "The request is larger than %s, which serves the model, accepts.", e.host)
	case r.status < 300:
		return lasting(engine.CodeEngineCrashed, "The server of the model gave an answer that cannot be read.")
	case r.status >= 300 && r.status < 400:
		return lasting(engine.CodeEngineCrashed, "The server %s, which is to serve the model, says that it is elsewhere: the definition of the model must name the new address.", e.host)
	case r.status == 408 || r.status == 429 || r.status >= 500:
		return nil
	}
	code := engine.CodeInvalidArgument
	if strings.HasPrefix(r.code, "unsupported") {
		code = engine.CodeUnsupported
	}
	return engine.Errorf(code, "%s", cmp.Or(r.message, "The server of the model does not accept the request.")).At(place(r.param))
}

// cannot is the error of an operation that the server does not have.
func (e *Engine) cannot(op operation) *engine.Error {
	if op.name == images {
		return engine.Errorf(engine.CodeModelNotFound, "The server of the model %q draws no pictures.", e.config.Model).
			At(engine.Place{Field: engine.FieldModel})
	}
	return engine.Errorf(engine.CodeUnsupported, "The server of the model %q does not offer %s.", e.config.Model, op.name)
}

func lasting(code engine.Code, format string, args ...any) *engine.Error {
	err := engine.Errorf(code, format, args...)
	err.NoRetry = true
	return err
}

// failed is the error of a server that cannot answer now. Its text is for the
// log alone.
func (e *Engine) failed(r refusal) *failure {
	f := &failure{after: r.after}
	var err *engine.Error
	switch {
	case r.status == 429 || r.status == 503 || r.status == 529:
		err = engine.Errorf(engine.CodeOverloaded, "The server of the model has too much to do.")
		err.RetryAfter = r.seconds()
		f.again = true
	case r.status == 408 || r.status == 504:
		err = engine.Errorf(engine.CodeDeadline, "The server of the model took too long.")
		f.again = r.status == 504
	case r.status == 502:
		err = engine.Errorf(engine.CodeEngineCrashed, "The server of the model cannot be reached.")
		f.again = true
	case r.late:
		err = engine.Errorf(engine.CodeEngineCrashed, "The server of the model has failed during its answer.")
	default:
		err = engine.Errorf(engine.CodeEngineCrashed, "The server of the model has failed.")
	}
	f.err = err.Because(r)
	return f
}

// unanswered is the error of a request to which no headers came.
func (e *Engine) unanswered(ctx, trying context.Context, err error) *failure {
	var invalid *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	switch {
	case ctx.Err() != nil:
		return &failure{err: ctx.Err()}
	case errors.Is(context.Cause(trying), errSilent):
		return &failure{err: silent(err)}
	case errors.As(err, &invalid) || errors.As(err, &authority):
		return &failure{err: lasting(engine.CodeEngineCrashed,
			"The server %s, which serves the model, cannot prove that it is that server: its certificate is not valid here.", e.host).Because(err)}
	}
	if coded := (*engine.Error)(nil); errors.As(err, &coded) {
		return &failure{err: coded}
	}
	if e.config.Errors != nil {
		return &failure{err: e.config.Errors.Lost().Because(err), again: true, dangerous: true}
	}
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		return &failure{err: engine.Errorf(engine.CodeEngineCrashed, "The server of the model cannot be reached.").Because(err), again: true}
	}
	return &failure{err: engine.Errorf(engine.CodeEngineCrashed, "The server of the model has closed the connection.").Because(err),
		again: true, dangerous: true}
}

func silent(err error) *engine.Error {
	return engine.Errorf(engine.CodeDeadline, "The server of the model was silent for too long.").Because(err)
}

// broken is the error of a reply that ends too early.
func (r *reply) broken(err error) error {
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.Is(err, errSilent):
		return silent(err)
	case errors.Is(err, errFull):
		full := engine.Errorf(engine.CodeOverloaded, "The answers of other servers take all memory that there is for them; try again later.").Because(err)
		full.RetryAfter = 5
		return full
	case r.engine.config.Errors != nil:
		return r.engine.config.Errors.Lost().Because(err)
	}
	return engine.Errorf(engine.CodeEngineCrashed, "The server of the model has broken off its answer.").Because(err)
}

// malformed is the error of a reply that cannot be read.
func (r *reply) malformed(what string) error {
	return engine.Errorf(engine.CodeEngineCrashed, "The server of the model gave an answer that cannot be read.").
		Because(fmt.Errorf("%s: %s", r.engine.host, what))
}

// told is the error that comes in the place of a chunk, once the answer has
// begun.
func (r *reply) told(text []byte) error {
	refusal := r.refusal(text)
	refusal.late = true
	return r.engine.refused(refusal, r.op).err
}

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

	// Code is the code behind a status, if there is one, and a word in the body.
	Code func(status int, word string) engine.Code
}

// Refused implements [Errors].
func (o Own) Refused(r Report) *engine.Error {
	message := r.Message
	if message == "" {
		message = fmt.Sprintf("The diglot server answers with status %d, and does not say why.", r.Status)
	}
	return &engine.Error{Code: o.Code(r.Status, r.Code), Message: message} // whole: the server has cut what is too long
}

// Lost implements [Errors].
func (o Own) Lost() *engine.Error {
	return &engine.Error{Code: engine.CodeEngineCrashed, Message: o.Ended}
}
