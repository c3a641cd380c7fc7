// Package mount makes the router of one style: chi, with answers to unknown
// paths and methods that are errors of that style.
package mount

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/diglot/diglot/engine"
)

// methods are those that an operation of a document may have here.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodDelete}

// Router returns an empty router whose 404 and 405 are written by
// writeError. A custom 405 of chi does not know what would have been
// allowed, so the router is asked again for the Allow header.
func Router(writeError func(http.ResponseWriter, *http.Request, *engine.Error)) chi.Router {
	router := chi.NewRouter()
	router.NotFound(func(w http.ResponseWriter, r *http.Request) {
		writeError(w, r, engine.Errorf(engine.CodeNotFound, "No such path: %s.", r.URL.Path))
	})
	router.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allowed(router, r.URL.EscapedPath()))
		writeError(w, r, engine.Errorf(engine.CodeMethodNotAllowed, "The method %s is not allowed for %s.", r.Method, r.URL.Path))
	})
	return router
}

func allowed(router chi.Routes, path string) string {
	var found []string
	for _, method := range methods {
		if router.Match(chi.NewRouteContext(), method, path) {
			found = append(found, method)
		}
	}
	return strings.Join(found, ", ")
}
