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
	// ErrUnauthorized is wrapped by the error for a denied request.
	ErrUnauthorized = errors.New("not allowed")

	// ErrNotModel is wrapped by the error for a manifest that is not of a model.
	ErrNotModel = errors.New("not a model")

	errMismatch = errors.New("the registry contradicts itself")
)

// Error is an error of Pull or Push that is not one of the store or the name.
// Its text tells the user what to do. It wraps [store.ErrNotFound] for a missing
// model, and [store.ErrDigest] for content with another digest.
type Error struct {
	Sentence string
	Err      error // the cause; may be nil
}

func (e *Error) Error() string { return e.Sentence }
func (e *Error) Unwrap() error { return e.Err }

func failure(cause error, format string, args ...any) *Error {
	return &Error{Sentence: fmt.Sprintf(format, args...), Err: cause}
}

// localError is an error of the store, which is already written for users.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

func local(err error) error { return &localError{err} }

// statusError is an HTTP error status.
type statusError struct {
	code      int
	host      string // that sent it
	elsewhere bool   // the registry redirected to this host
	blob      string // digest, if a blob was requested
	said      string // the server's message; may be empty
	after     time.Duration
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("%s answers %d %s", e.host, e.code, http.StatusText(e.code))
	if e.said != "" {
		text += ": " + e.said
	}
	return text
}

// maxSaid bounds a server's message as shown to users, in bytes.
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

// words extracts the message from an error body: OCI's JSON, Hugging Face's JSON
// or plain text. Markup and control characters are removed.
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

// sentence joins a code and its message, unless they say the same.
func sentence(code, message string) string {
	code = strings.ToLower(strings.ReplaceAll(code, "_", " "))
	if code == "" || message == "" || strings.EqualFold(code, message) {
		return cmp.Or(message, code)
	}
	return code + ": " + message
}

// explain turns an error into an [*Error] for users. Errors of the store and a
// cancellation stay as they are.
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
		return failure(err, "%s sent corrupt data for %s (%v). It was discarded; pull again, and if that fails, report it to the operators of %s.", s.name.Host, s.name, err, s.name.Host)
	case errors.As(err, &ours):
		return ours.err
	}
	if status := statusOf(err); status != nil {
		return s.explainStatus(err, status)
	}
	return s.explainNetwork(err)
}

// statusOf finds the status in one of our errors or of oras-go's.
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
		return failure(err, "%s misses a blob of %s, %s%s. Push the model again, or report it to the operators of %s.", s.name.Host, s.name, status.blob, said, s.name.Host)
	case code == http.StatusNotFound, code == http.StatusBadRequest && s.host.tokens:
		return failure(fmt.Errorf("%w: %w", store.ErrNotFound, err),
			"%s has no model %s%s. Check the name, and the tag after the colon.", s.name.Host, s.name, said)
	case refused && s.host.tokens:
		return failure(fmt.Errorf("%w: %w", ErrUnauthorized, err),
			"%s has no model %s that you may read%s. Check the name; for a private model, run docker login %s with an access token as the password.",
			s.name.Host, s.name, said, s.name.Host)
	case refused:
		return failure(fmt.Errorf("%w: %w", ErrUnauthorized, err),
			"%s denies access to %s%s. Run docker login %s, or check the permissions of your login.", s.name.Host, s.name, said, s.name.Host)
	case code == http.StatusTooManyRequests:
		return failure(err, "%s limits the rate of requests%s. Try again later; what has arrived is kept.", s.name.Host, said)
	case code == http.StatusRequestEntityTooLarge:
		return failure(err, "%s, or a proxy before it, does not accept files of this size%s.", s.name.Host, said)
	case code >= 500:
		return failure(err, "%s failed with %d %s%s. Try again later; what has arrived is kept.", s.name.Host, code, http.StatusText(code), said)
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
		return failure(err, "The proxy %s does not connect to %s: it answers %s. Check HTTPS_PROXY, with its user and password.", proxy.proxy, host, proxy.status)
	case errors.As(err, &operation) && operation.Op == "proxyconnect":
		return failure(err, "The proxy of HTTPS_PROXY or HTTP_PROXY cannot be reached: %v.", operation.Err)
	case errors.As(err, &name):
		return failure(err, "The host %s was not found: %s. Check the name and the network.", name.Name, name.Err)
	case errors.As(err, &certificate):
		return failure(err, "The TLS certificate of %s is not trusted: %v.", host, certificate.Err)
	case errors.Is(err, http.ErrSchemeMismatch):
		return failure(err, "%s does not use TLS. Use --plain-http to allow that; anyone on the network can then alter the model.", host)
	case errors.Is(err, errStalled):
		return failure(err, "%s stalled: it sent almost nothing for %v. Try again later; what has arrived is kept.", host, s.config.Stall)
	case errors.Is(err, errMismatch):
		return failure(err, "%s cannot be pulled: %v. Report it to the operators of %s.", s.name, err, host)
	case errors.Is(err, errSlow), errors.As(err, &timeout) && timeout.Timeout():
		return failure(err, "%s does not answer in time. Check the network, or try again later; what has arrived is kept.", host)
	case errors.As(err, &operation):
		return failure(err, "%s cannot be reached: %v. Check the network, or try again later; what has arrived is kept.", host, operation.Err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return failure(err, "%s closed the connection on every attempt. Try again later; what has arrived is kept.", host)
	}
	return failure(err, "Requests to %s failed: %v.", host, err)
}
