package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// retries counts the attempts of a request, and waits between them.
type retries struct {
	session *session
	tried   int
	most    int
}

func (s *session) retries() retries { return retries{session: s, most: s.config.Tries} }

// forget resets the count, after an attempt that made progress.
func (r *retries) forget() { r.tried = 0 }

// wait returns nil when it is time to retry, and otherwise err or the cause of
// ctx.
func (r *retries) wait(ctx context.Context, err error) error {
	r.tried++
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.tried >= r.most || !passing(err) {
		return err
	}
	pause := pauseBefore(r.tried, r.session.config.Backoff)
	pause = pause/2 + rand.N(pause/2+1) // jitter
	var status *statusError
	if errors.As(err, &status) {
		pause = max(pause, min(status.after, maxBackoff))
	}
	r.session.config.Log.LogAttrs(ctx, slog.LevelDebug, "registry: trying again", slog.String("model", r.session.name.String()),
		slog.String("host", r.session.name.Host), slog.Duration("pause", pause), slog.Any("error", err))
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// pauseBefore is the longest pause after so many tries.
func pauseBefore(tried int, backoff time.Duration) time.Duration {
	for range tried - 1 {
		if backoff >= maxBackoff { // or it would overflow
			break
		}
		backoff *= 2
	}
	return min(backoff, maxBackoff)
}

// passing reports whether an error is transient: cut connections and overloaded
// servers are, refusals are not.
func passing(err error) bool {
	var status *statusError
	var upload *errcode.ErrorResponse
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var proxy *proxyError
	var final *Error
	var ours *localError
	switch {
	case errors.As(err, &status):
		return passingStatus(status.code) || status.elsewhere && status.code == http.StatusForbidden
	case errors.As(err, &upload):
		return passingStatus(upload.StatusCode)
	case errors.As(err, &name):
		return !name.IsNotFound
	case errors.As(err, &certificate), errors.As(err, &proxy), errors.As(err, &final), errors.As(err, &ours),
		errors.Is(err, auth.ErrBasicCredentialNotFound), errors.Is(err, http.ErrSchemeMismatch), errors.Is(err, errMismatch):
		return false
	}
	return true
}

func passingStatus(code int) bool {
	switch code {
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusTooEarly:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return code >= 500
}
