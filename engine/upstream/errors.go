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

// refused converts a refusal to an error for the client, and decides on a retry.
func (e *Engine) refused(r refusal, op operation) *failure {
	if e.config.Errors != nil {
		return &failure{err: e.configuredError(r, op), retry: r.status == 429 || r.status == 503, retryAfter: r.after}
	}
	err := e.refusedRequest(r, op)
	if err == nil {
		return e.serverFailure(r)
	}
	return &failure{err: err.Because(r)}
}

// configuredError converts a refusal by [Config.Errors], except for a prompt that is too
// long.
func (e *Engine) configuredError(r refusal, op operation) *engine.Error {
	if r.tooLong() {
		return r.contextLength(op).Because(r)
	}
	err := e.config.Errors.Refused(Report{Status: r.status, Code: r.code, Message: r.message}).Because(r)
	err.RetryAfter = r.seconds()
	return err.At(place(r.param))
}

// refusedRequest returns the error of a request that would be refused again; nil: a retry may help.
func (e *Engine) refusedRequest(r refusal, op operation) *engine.Error {
	switch {
	case r.tooLong():
		return r.contextLength(op)
	case r.status == 401 || r.status == 403:
		return noRetry(engine.CodeInternal,
			"%s, which serves the model, rejects the API key or requires one: set it with diglot login %s.", e.host, e.host)
	case r.status == 402 || r.code == "insufficient_quota":
		return noRetry(engine.CodeInternal, "The account at %s, which serves the model, has no credit left.", e.host)
	case r.code == "model_not_found" && op.name == images: // or a model that generates no images, as the message may say
		return engine.Errorf(engine.CodeModelNotFound, "%s", cmp.Or(r.message, e.unsupported(op).Message)).At(engine.Place{Field: engine.FieldModel})
	case r.code == "model_not_found" || r.status == 404 && op.name == chatCompletions:
		return engine.Errorf(engine.CodeModelNotFound, "The model %q does not exist on %s, its server.", e.config.Model, e.host).
			At(engine.Place{Field: engine.FieldModel})
	case r.status == 404 || r.status == 405 || r.status == 501 || op.foreign && r.status < 500 && r.status != 408 && r.status != 429:
		return e.unsupported(op)
	case r.status == 413:
		return engine.Errorf(engine.CodeTooLarge, "The request is too large for %s, which serves the model.", e.host)
	case r.status < 300:
		return noRetry(engine.CodeEngineCrashed, "The model's server sent an invalid reply.")
	case r.status >= 300 && r.status < 400:
		return noRetry(engine.CodeEngineCrashed, "%s, which serves the model, redirects to another address: put that address into the Modelfile.", e.host)
	case r.status == 408 || r.status == 429 || r.status >= 500:
		return nil
	}
	code := engine.CodeInvalidArgument
	if strings.HasPrefix(r.code, "unsupported") {
		code = engine.CodeUnsupported
	}
	return engine.Errorf(code, "%s", cmp.Or(r.message, "The model's server rejected the request.")).At(place(r.param))
}

// unsupported returns the error of an operation that the server lacks.
func (e *Engine) unsupported(op operation) *engine.Error {
	if op.name == images {
		return engine.Errorf(engine.CodeModelNotFound, "The server of the model %q does not generate images.", e.config.Model).
			At(engine.Place{Field: engine.FieldModel})
	}
	return engine.Errorf(engine.CodeUnsupported, "The server of the model %q does not offer %s.", e.config.Model, op.name)
}

func noRetry(code engine.Code, format string, args ...any) *engine.Error {
	err := engine.Errorf(code, format, args...)
	err.NoRetry = true
	return err
}

// serverFailure returns the error of a server that cannot answer now. Its own text is
// only logged.
func (e *Engine) serverFailure(r refusal) *failure {
	f := &failure{retryAfter: r.after}
	var err *engine.Error
	switch {
	case r.status == 429 || r.status == 503 || r.status == 529:
		err = engine.Errorf(engine.CodeOverloaded, "The model's server is overloaded.")
		err.RetryAfter = r.seconds()
		f.retry = true
	case r.status == 408 || r.status == 504:
		err = engine.Errorf(engine.CodeDeadline, "The model's server took too long.")
		f.retry = r.status == 504
	case r.status == 502:
		err = engine.Errorf(engine.CodeEngineCrashed, "The model's server cannot be reached.")
		f.retry = true
	case r.late:
		err = engine.Errorf(engine.CodeEngineCrashed, "The model's server failed during its answer.")
	default:
		err = engine.Errorf(engine.CodeEngineCrashed, "The model's server failed.")
	}
	f.err = err.Because(r)
	return f
}

// sendFailure returns the error of an attempt that got no response headers.
func (e *Engine) sendFailure(ctx, trying context.Context, err error) *failure {
	var invalid *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	switch {
	case ctx.Err() != nil:
		return &failure{err: ctx.Err()}
	case errors.Is(context.Cause(trying), errTimeout):
		return &failure{err: timeout(err)}
	case errors.As(err, &invalid) || errors.As(err, &authority):
		return &failure{err: noRetry(engine.CodeEngineCrashed,
			"The TLS certificate of %s, which serves the model, is not valid.", e.host).Because(err)}
	}
	if coded := (*engine.Error)(nil); errors.As(err, &coded) {
		return &failure{err: coded}
	}
	if e.config.Errors != nil {
		return &failure{err: e.config.Errors.Lost().Because(err), retry: true, maybeCrash: true}
	}
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		return &failure{err: engine.Errorf(engine.CodeEngineCrashed, "The model's server cannot be reached.").Because(err), retry: true}
	}
	return &failure{err: engine.Errorf(engine.CodeEngineCrashed, "The model's server closed the connection.").Because(err),
		retry: true, maybeCrash: true}
}

func timeout(err error) *engine.Error {
	return engine.Errorf(engine.CodeDeadline, "The model's server sent nothing for too long.").Because(err)
}

// interrupted returns the error of a reply that ends early.
func (r *reply) interrupted(err error) error {
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.Is(err, errTimeout):
		return timeout(err)
	case errors.Is(err, errFull):
		full := engine.Errorf(engine.CodeOverloaded, "Replies from other servers use all the memory reserved for them; try again later.").Because(err)
		full.RetryAfter = 5
		return full
	case r.engine.config.Errors != nil:
		return r.engine.config.Errors.Lost().Because(err)
	}
	return engine.Errorf(engine.CodeEngineCrashed, "The model's server ended its answer early.").Because(err)
}

// malformed returns the error of an invalid reply.
func (r *reply) malformed(what string) error {
	return engine.Errorf(engine.CodeEngineCrashed, "The model's server sent an invalid reply.").
		Because(fmt.Errorf("%s: %s", r.engine.host, what))
}

// streamError converts an error that comes instead of a chunk, after the answer has
// begun.
func (r *reply) streamError(text []byte) error {
	refusal := r.refusal(text)
	refusal.late = true
	return r.engine.refused(refusal, r.op).err
}

// Errors converts a server's failures to errors for the client. The default is
// for a server that clients do not know of: what it says about itself is only
// logged.
type Errors interface {
	// Refused converts an error reported by the server.
	Refused(Report) *engine.Error

	// Lost returns the error of a server that cannot be reached or disconnects.
	Lost() *engine.Error
}

// Report is an error as the server reported it.
type Report struct {
	Status  int    // HTTP status; 0: within a reply
	Code    string // may be empty
	Message string // empty: none could be read
}

// Own is the [Errors] of another process of this program, whose messages are
// meant for the user.
type Own struct {
	Ended string // message for a server that is not running: how to start it

	// Code maps a status, 0 if there is none, and the code in the body.
	Code func(status int, word string) engine.Code
}

// Refused implements [Errors].
func (o Own) Refused(r Report) *engine.Error {
	message := r.Message
	if message == "" {
		message = fmt.Sprintf("The diglot server replied with status %d and no message.", r.Status)
	}
	return &engine.Error{Code: o.Code(r.Status, r.Code), Message: message} // not cut again
}

// Lost implements [Errors].
func (o Own) Lost() *engine.Error {
	return &engine.Error{Code: engine.CodeEngineCrashed, Message: o.Ended}
}
