package replay

import (
	"net/http"

	"github.com/diglot/diglot/cmd/diglot/internal/replay/fault"
)

// retryAfter has the header Retry-After of a fault in the place of the error's own.
type retryAfter struct {
	http.ResponseWriter
	value string // of fault.Status
}

func (w *retryAfter) WriteHeader(status int) {
	switch w.value {
	case "":
	case fault.NoHeader:
		w.Header().Del("Retry-After")
	default:
		w.Header().Set("Retry-After", w.value)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *retryAfter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
