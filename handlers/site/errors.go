package site

import (
	"bytes"
	"net/http"

	"github.com/diglot/diglot/engine"
)

// errorPage is what the template of errors shows.
type errorPage struct {
	Title, Message string
	Docs           bool
}

// WriteError answers a browser with a page that tells err.
func (s *Site) WriteError(w http.ResponseWriter, err *engine.Error) {
	status := http.StatusInternalServerError
	switch err.Code {
	case engine.CodeNotFound:
		status = http.StatusNotFound
	case engine.CodeMethodNotAllowed:
		status = http.StatusMethodNotAllowed
	case engine.CodeForbidden:
		status = http.StatusForbidden
	}
	s.render(w, status, "error.html", errorPage{Title: http.StatusText(status), Message: err.Message, Docs: s.config.Docs != nil})
}

// render writes a page that depends on the moment, so that no cache keeps it.
func (s *Site) render(w http.ResponseWriter, status int, name string, data any) {
	var page bytes.Buffer
	if err := s.templates.ExecuteTemplate(&page, name, data); err != nil {
		panic(err) // a buffer takes everything, and tests render each template: the template is wrong
	}
	h := w.Header()
	secure(h)
	h.Set("Content-Type", contentTypes[".html"])
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // a client that left needs no page
}
