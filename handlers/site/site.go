// Package site is what the server shows a person with a browser: the page at /, and the
// reference at /docs/. Programs that ask for / never meet it, since it answers only requests
// that prefer HTML.
//
// The pages are data of the program: they load nothing from elsewhere, and their
// Content-Security-Policy would not let them. They are rendered by html/template, and work
// without scripts as far as they can; the scripts are plain modules in assets, without a
// build step. The page at / is also how its script refreshes: it fetches the page again,
// with the key that the user has typed, and takes the status from it. So there is no further
// API, and a key exists in the memory of the page alone.
//
// Paths: / and /site/ (assets of the page), /docs/ (files of [Config.Docs]). None of them
// may be a path of the documents.
package site

import (
	"context"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/diglot/diglot/engine"
)

// Config configures a Site.
type Config struct {
	Models  func(context.Context) ([]engine.Model, error) // required
	Profile string                                        // the profile in force, to show
	Status  func(context.Context) Status                  // nil: nothing is known of this machine
	Docs    fs.FS                                         // files of the reference; nil: there are none
	Clock   func() time.Time                              // required
}

// Status is what the page at / shows of the machine.
type Status struct {
	Version   string // of the program
	Loaded    []Loaded
	Available int64 // bytes of memory that a further model may use; 0: unknown
	Limit     int64 // bytes that all models may use; 0: what the machine has
}

// Loaded is a model that is loading, loaded or stopping.
type Loaded struct {
	Name     string
	Others   []string  // other names that requests used
	Context  int       // tokens per request; 0: unknown
	Size     int64     // planned memory in bytes; 0: none of this machine, or not yet known
	Requests int       // running and waiting
	Until    time.Time // when it is unloaded if idle; zero: in use, or never
	Loading  bool
	Stopping bool
	Host     string // of a remote model; empty: it is here
}

// Visitor is what the server knows of whoever asks for a page.
type Visitor struct {
	KeyNeeded bool // the server accepts only certain keys
	Known     bool // the request has one of them, or needs none
}

// Site serves the pages.
type Site struct {
	config    Config
	assets    fs.FS
	templates *template.Template
}

//go:embed assets
var assets embed.FS

//go:embed home.html error.html
var templates embed.FS

// New returns a Site, or an error if the program was built with a broken template.
func New(c Config) (*Site, error) {
	parsed, err := template.ParseFS(templates, "*.html")
	if err != nil {
		return nil, err
	}
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		return nil, err
	}
	if c.Status == nil {
		c.Status = func(context.Context) Status { return Status{} }
	}
	return &Site{config: c, assets: own, templates: parsed}, nil
}

// Handles reports whether a request is for a page.
func (s *Site) Handles(r *http.Request) bool {
	p := r.URL.Path
	return p == "/" && PrefersHTML(r) || p == "/docs" || strings.HasPrefix(p, "/docs/") || strings.HasPrefix(p, "/site/")
}

// Serve answers a request for a page, or returns an error without having written anything.
func (s *Site) Serve(w http.ResponseWriter, r *http.Request, v Visitor) *engine.Error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return engine.Errorf(engine.CodeMethodNotAllowed, "The method %s is not allowed here.", r.Method)
	}
	p := r.URL.Path
	if p == "/" {
		return s.serveHome(w, r, v)
	}
	if name, ok := strings.CutPrefix(p, "/site/"); ok {
		return serveFile(w, r, s.assets, name)
	}
	if s.config.Docs == nil {
		return engine.Errorf(engine.CodeNotFound, "This build has no reference.")
	}
	if p == "/docs" {
		redirect(w, r, "/docs/")
		return nil
	}
	return serveFile(w, r, s.config.Docs, strings.TrimPrefix(p, "/docs/"))
}

// secure sets the headers of each page and file. A page may load only what this server has.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "+
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}
