package registry

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/diglot/diglot/engine/models/store"
)

var (
	// ErrUnauthorized is in the error of what a registry does not allow, or
	// not without a login.
	ErrUnauthorized = errors.New("not allowed")

	// ErrNotModel is in the error for what a registry has under the name and
	// is no model that the store can hold.
	ErrNotModel = errors.New("not a model")

	errMismatch = errors.New("the registry contradicts itself")
)

// Error is what Pull and Push return, unless the store or a name is to
// blame. Its text is one sentence for a user, with what to do. Where a
// registry has no such model, errors.Is(err, [store.ErrNotFound]); where
// it sent something else than a digest says, [store.ErrDigest].
type Error struct {
	Sentence string
	Err      error // the cause; may be nil
}

func (e *Error) Error() string { return e.Sentence }
func (e *Error) Unwrap() error { return e.Err }

func failure(cause error, format string, args ...any) *Error {
	return &Error{Sentence: fmt.Sprintf(format, args...), Err: cause}
}

// localError is the store's, which has sentences of its own.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

func local(err error) error { return &localError{err} }

// statusError is a reply that is neither what was asked for nor a redirect.
type statusError struct {
	code      int
	host      string // that sent it
	elsewhere bool   // it is not the registry, but a server that it sent us to
	blob      string // the digest, where a blob was asked for
	said      string // its own words; may be empty
	after     time.Duration
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("%s answers %d %s", e.host, e.code, http.StatusText(e.code))
	if e.said != "" {
		text += ": " + e.said
	}
	return text
}

// maxSaid is the most bytes of a registry's own words that a user gets to see.
const maxSaid = 300

func newStatusError(resp *http.Response) *statusError {
	e := &statusError{code: resp.StatusCode, host: resp.Request.URL.Host}
	for r := resp.Request; r.Response != nil; r = r.Response.Request {
		if r.Response.Request.URL.Host != e.host {
			e.elsewhere = true
		}
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.after = time.Duration(min(seconds, 3600)) * time.Second
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 8<<10))
	e.said = words(body)
	return e
}

// words finds what the body of a refusal says: as the protocol has it, as
// Hugging Face has it, or as plain text. Markup is left out, and so is what
// could steer a terminal.
func words(body []byte) string {
	var known struct {
		Error  json.RawMessage
		Errors []struct{ Code, Message string }
	}
	text := string(body)
	if json.Unmarshal(body, &known) == nil {
		text = ""
		json.Unmarshal(known.Error, &text)
		for _, e := range known.Errors {
			if text != "" {
				text += "; "
			}
			text += sentence(e.Code, e.Message)
		}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		return ""
	}
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	return text
}

// sentence joins a code and its message, which often say the same.
func sentence(code, message string) string {
	code = strings.ToLower(strings.ReplaceAll(code, "_", " "))
	if code == "" || message == "" || strings.EqualFold(code, message) {
		return cmp.Or(message, code)
	}
	return code + ": " + message
}

// explain makes a sentence of what went wrong. What the store says, and that
// somebody cancelled, is left as it is.
func (s *session) explain(ctx context.Context, err error) error {
	var done *Error
	var ours *localError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &done):
		return done
	case errors.Is(err, store.ErrDigest):
		return failure(err, "%s sent something else than what %s consists of (%v). It was thrown away; pull again, and if it stays so, tell the people who run %s.", s.name.Host, s.name, err, s.name.Host)
	case errors.As(err, &ours):
		return ours.err
	}
	if status := statusOf(err); status != nil {
		return s.explainStatus(err, status)
	}
	return s.explainNetwork(err)
}

// statusOf finds the status in an error, our own or one of oras-go.
func statusOf(err error) *statusError {
	var status *statusError
	var response *errcode.ErrorResponse
	switch {
	case errors.As(err, &status):
		return status
	case errors.As(err, &response):
		said := ""
		if len(response.Errors) > 0 {
			said = words([]byte(response.Errors.Error()))
		}
		return &statusError{code: response.StatusCode, said: said}
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return &statusError{code: http.StatusUnauthorized}
	}
	return nil
}

func (s *session) explainStatus(err error, status *statusError) error {
	code, said := status.code, status.said
	if said != "" {
		said = " (" + said + ")"
	}
	refused := code == http.StatusUnauthorized || code == http.StatusForbidden
	switch {
	case code == http.StatusNotFound && status.blob != "":
		return failure(err, "%s lacks a part of %s, %s%s. Tell the people who run %s, or push the model again.", s.name.Host, s.name, status.blob, said, s.name.Host)
	case code == http.StatusNotFound, code == http.StatusBadRequest && s.host.tokens:
		return failure(fmt.Errorf("%w: %w", store.ErrNotFound, err),
			"%s has no model %s%s. Check how it is spelled, and the tag after the colon.", s.name.Host, s.name, said)
	case refused && s.host.tokens:
		return failure(fmt.Errorf("%w: %w", ErrUnauthorized, err),
			"%s has no model %s that you may read%s. Check how it is spelled; for one that is not public, log in with docker login %s and an access token in place of the password.",
			s.name.Host, s.name, said, s.name.Host)
	case refused:
		return failure(fmt.Errorf("%w: %w", ErrUnauthorized, err),
			"%s does not allow this for %s%s. Log in with docker login %s, or check that your login may do it.", s.name.Host, s.name, said, s.name.Host)
	case code == http.StatusTooManyRequests:
		return failure(err, "%s has had too many requests%s. Try again later; what has arrived is kept.", s.name.Host, said)
	case code == http.StatusRequestEntityTooLarge:
		return failure(err, "%s, or a proxy before it, does not take files of that size%s.", s.name.Host, said)
	case code >= 500:
		return failure(err, "%s is in trouble: it answers %d %s%s. Try again later; what has arrived is kept.", s.name.Host, code, http.StatusText(code), said)
	}
	return failure(err, "%s answers %d %s to a request for %s%s.", s.name.Host, code, http.StatusText(code), s.name, said)
}

func (s *session) explainNetwork(err error) error {
	var (
		proxy       *proxyError
		operation   *net.OpError
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		timeout     net.Error
	)
	host := s.name.Host
	switch {
	case errors.As(err, &proxy):
		return failure(err, "The proxy %s does not connect to %s: it answers %s. Check the proxy that the environment names, and its user and password.", proxy.proxy, host, proxy.status)
	case errors.As(err, &operation) && operation.Op == "proxyconnect":
		return failure(err, "The proxy that the environment names cannot be reached: %v.", operation.Err)
	case errors.As(err, &name):
		return failure(err, "The name %s could not be found: %s. Check how it is spelled, and the network.", name.Name, name.Err)
	case errors.As(err, &certificate):
		return failure(err, "The certificate of %s is not to be trusted: %v.", host, certificate.Err)
	case errors.Is(err, http.ErrSchemeMismatch):
		return failure(err, "%s speaks without encryption. That is allowed for this machine alone, and elsewhere only where you ask for it (--plain-http).", host)
	case errors.Is(err, errStalled):
		return failure(err, "%s fell silent: next to nothing came for %v. Try again later; what has arrived is kept.", host, s.config.Stall)
	case errors.Is(err, errMismatch):
		return failure(err, "%s cannot be fetched: %v. Tell the people who run %s.", s.name, err, host)
	case errors.Is(err, errSlow), errors.As(err, &timeout) && timeout.Timeout():
		return failure(err, "%s does not answer in time. Check the network, or try again later; what has arrived is kept.", host)
	case errors.As(err, &operation):
		return failure(err, "%s cannot be reached: %v. Check the network, or try again later; what has arrived is kept.", host, operation.Err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return failure(err, "%s cut the connection each time. Try again later; what has arrived is kept.", host)
	}
	return failure(err, "%s could not be spoken to: %v.", host, err)
}
