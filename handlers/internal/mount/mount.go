// Package mount makes the router of a style: chi, with 404 and 405 as errors of the style.
package mount

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/openapi"
)

// WriteError writes an error in one style.
type WriteError func(http.ResponseWriter, *http.Request, *engine.Error)

// Unbound answers a request that fits the document but not the generated types, which is a
// bug of the server.
func (write WriteError) Unbound(w http.ResponseWriter, r *http.Request, err error) {
	write(w, r, engine.Errorf(engine.CodeInternal, "Internal error.").Because(err))
}

// Failed answers an error of an operation, unless the client has disconnected.
func (write WriteError) Failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		err = r.Context().Err()
	}
	write(w, r, engine.AsError(err))
}

// Router returns an empty router for the operations of a document. write writes its 404 and
// 405. An operation that the document refuses is a 404, mounted or not.
func Router(document *openapi.Document, write WriteError) chi.Router {
	router := chi.NewRouter()
	router.Use(refuse(document, write))
	router.NotFound(func(w http.ResponseWriter, r *http.Request) {
		write(w, r, notFound(r))
	})
	router.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		allow := allowed(document, router, r.URL.EscapedPath())
		if allow == "" { // chi looks up the path only for methods that it knows
			write(w, r, notFound(r))
			return
		}
		w.Header().Set("Allow", allow)
		write(w, r, engine.Errorf(engine.CodeMethodNotAllowed, "The method %s is not allowed for %s.", r.Method, r.URL.Path))
	})
	return router
}

// refuse answers operations that the document marks as refused, with the mark's note.
func refuse(document *openapi.Document, write WriteError) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			o, ok := document.Match(r.Method, r.URL.Path)
			if !ok || o.Mark.Server != openapi.SupportRefused {
				next.ServeHTTP(w, r)
				return
			}
			write(w, r, engine.Errorf(engine.CodeNotFound, "No such path: %s. %s", r.URL.Path, o.Mark.Note))
		})
	}
}

func notFound(r *http.Request) *engine.Error {
	return engine.Errorf(engine.CodeNotFound, "No such path: %s.", r.URL.Path)
}

// allowed lists the methods of a path for the Allow header, which chi does not tell a
// custom 405 handler.
func allowed(document *openapi.Document, router chi.Routes, path string) string {
	var found []string
	for _, o := range document.Operations() {
		if !slices.Contains(found, o.Method) && router.Match(chi.NewRouteContext(), o.Method, path) {
			found = append(found, o.Method)
		}
	}
	if slices.Contains(found, http.MethodGet) {
		found = append(found, http.MethodHead)
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}
