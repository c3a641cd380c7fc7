// Package validate checks requests against a document before a handler sees them, so that
// handlers need not check again. What is bound later is what was checked here.
package validate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/pace"
	"github.com/diglot/diglot/internal/budget"
	"github.com/diglot/diglot/openapi"
)

// Config configures the checks of one style.
type Config struct {
	Document *openapi.Document
	MaxBody  int64 // bytes

	// FromViolation turns a violation into an error of the style.
	FromViolation func(*openapi.Violation) *engine.Error
	// WriteError writes an error in the style.
	WriteError func(http.ResponseWriter, *http.Request, *engine.Error)
}

// Middleware checks requests between chi's routing and the generated code, which binds
// parameters and body. A valid request goes on with the checked body, without ignored
// fields, which are recorded in the exchange.
func Middleware(c Config) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := c.check(r); err != nil {
				c.WriteError(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func (c Config) check(r *http.Request) *engine.Error {
	pattern := chi.RouteContext(r.Context()).RoutePattern()
	operation, ok := c.Document.Route(r.Method, pattern)
	if !ok { // routes are generated from the document: impossible
		return engine.Errorf(engine.CodeInternal, "Internal error.").
			Because(fmt.Errorf("no operation for the route %s %s", r.Method, pattern))
	}
	x := exchange.From(r.Context())
	x.SetOperation(operation)
	ignored, v := operation.CheckParameters(r.URL.Query(), r.Header, func(name string) string {
		value, err := url.PathUnescape(chi.URLParam(r, name))
		if err != nil {
			return chi.URLParam(r, name)
		}
		return value
	})
	if v == nil && x.Strict {
		v = openapi.Strict(ignored)
	}
	if v != nil {
		return c.FromViolation(v)
	}
	ignore(x, ignored)
	if operation.Body == nil {
		return nil
	}
	return c.checkBody(r, x, operation)
}

func (c Config) checkBody(r *http.Request, x *exchange.Exchange, operation *openapi.Operation) *engine.Error {
	if !isJSON(r.Header.Get("Content-Type")) {
		return engine.Errorf(engine.CodeMediaType, "The Content-Type must be application/json.")
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return engine.Errorf(engine.CodeMediaType, "The Content-Encoding %q is not supported; send the body uncompressed.", coding)
	}
	body, err := c.read(r, x.Memory)
	if err != nil {
		return err
	}
	if x.Enter != nil {
		if err := x.Enter(); err != nil {
			return err
		}
	}
	if !x.Memory.Reserve(min(perValue*int64(openapi.CountValues(body)), valuesMemory)) {
		return full()
	}
	checked, v := operation.Check(body)
	if v == nil && x.Strict {
		v = openapi.Strict(checked.Ignored)
	}
	if v != nil {
		return c.FromViolation(v)
	}
	ignore(x, checked.Ignored)
	x.SetLocate(checked.Locate)
	r.Body = &checkedBody{bytes.NewReader(checked.Body), checked.Body}
	r.ContentLength = int64(len(checked.Body))
	return nil
}

// checkedBody is a body that fits its document.
type checkedBody struct {
	*bytes.Reader
	text []byte
}

// Bytes returns the whole body for the generated code. It is read-only.
func (b *checkedBody) Bytes() []byte { return b.text }

// Close implements [io.ReadCloser].
func (b *checkedBody) Close() error { return nil }

// weight is the bytes reserved per byte of a body: for itself and its decoded forms, which
// take less than three times as much.
const weight = 4

// perValue is the bytes reserved per value in a body, half of them while it is checked. An
// array of digits takes many times its size when decoded; the document's limit on values
// bounds that.
const perValue = 64

// valuesMemory is the most that is reserved for values, as the documents limit their
// number.
const valuesMemory = 64 << 20

// Most returns the most memory that is reserved for a body of n bytes.
func Most(n int64) int64 { return weight*(n+1) + valuesMemory }

// read reads the body. Memory is reserved as bytes arrive, not by Content-Length, so that a
// client that sends nothing holds nothing.
func (c Config) read(r *http.Request, memory *budget.Share) ([]byte, *engine.Error) {
	if r.ContentLength > c.MaxBody {
		return nil, c.tooLarge()
	}
	most := c.MaxBody + 1 // one byte more shows an overlong body
	if r.ContentLength >= 0 {
		most = r.ContentLength + 1 // one byte more to read the end
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			size := max(firstRead, 2*int64(cap(body)))
			if int64(cap(body)) < most {
				size = min(size, most)
			}
			if !memory.Reserve(weight * (size - int64(cap(body)))) {
				return nil, full()
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > c.MaxBody:
			return nil, c.tooLarge()
		case errors.Is(err, io.EOF):
			return body, nil
		case errors.Is(err, pace.ErrStalled):
			return nil, engine.Errorf(engine.CodeDeadline, "The request body did not arrive in time.").Because(err)
		case errors.Is(err, pace.ErrSlow):
			return nil, full().Because(err)
		case err != nil:
			return nil, engine.Errorf(engine.CodeInvalidArgument, "The request body could not be read.").Because(err)
		}
	}
}

// firstRead is reserved before a body begins.
const firstRead = 4 << 10

func (c Config) tooLarge() *engine.Error {
	return engine.Errorf(engine.CodeTooLarge, "The request body is larger than %d bytes.", c.MaxBody)
}

// full is the error of a body without memory.
func full() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "The memory for request bodies is exhausted; try again later.")
	err.RetryAfter = 2
	return err
}

// isJSON accepts JSON media types, and none at all. The form type that curl -d sends is
// refused: pages of any site can send it without a preflight.
func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || len(media) > 5 && media[len(media)-5:] == "+json")
}

func ignore(x *exchange.Exchange, ignored []openapi.Ignored) {
	for _, i := range ignored {
		x.Ignore(i.Name)
	}
}
