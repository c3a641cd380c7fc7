package handlers_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/site"
	"github.com/diglot/diglot/openapi"
)

// browserAccepts is what Firefox sends for a page.
const browserAccepts = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// TestPageForBrowsers holds that only browsers get the page at /, and all others what they
// always got.
func TestPageForBrowsers(t *testing.T) {
	secret := handlers.NewKeys(handlers.Key{Name: "k", Key: "secret"})
	page := []string{"Accept", browserAccepts}
	for _, tt := range []struct {
		name, method string
		config       handlers.Config
		header       []string
		status       int
		html         bool
		has, hasNo   string
	}{
		{name: "a browser", header: page, status: 200, html: true, has: ">m<"},
		{name: "a browser, the head alone", method: "HEAD", header: page, status: 200, html: true},
		{name: "the document profile", config: handlers.Config{Profile: openapi.ProfileDocument}, header: page, status: 200, html: true, has: "document profile"},
		{name: "what the machine says", config: handlers.Config{Status: machine}, header: page, status: 200, html: true, has: "v9.9.9"},
		{name: "a browser without a key", config: handlers.Config{Keys: secret}, header: page, status: 200, html: true, has: "needs an API key", hasNo: ">m<"},
		{name: "a browser with a wrong key", config: handlers.Config{Keys: secret}, header: append(page, "Authorization", "Bearer guess"), status: 200, html: true, hasNo: ">m<"},
		{name: "a browser with a key", config: handlers.Config{Keys: secret}, header: append(page, "Authorization", "Bearer secret"), status: 200, html: true, has: ">m<"},
		{name: "another host name", header: append(page, "Host", "evil.example"), status: 403, html: true, has: "--allow-host", hasNo: ">m<"},
		{name: "another site", header: append(page, "Origin", "https://evil.example"), status: 403, html: true, has: "--allow-origin", hasNo: ">m<"},
		{name: "a form of a browser", method: "POST", header: page, status: 405, html: true, has: "not allowed"},

		{name: "curl", header: []string{"Accept", "*/*"}, status: 200, has: `{"status":"ok"}`},
		{name: "no preference", status: 200, has: `{"status":"ok"}`},
		{name: "an SDK", header: []string{"Accept", "application/json"}, status: 200, has: `{"status":"ok"}`},
		{name: "a coding agent", method: "HEAD", header: []string{"Accept", "*/*"}, status: 200},
		{name: "a probe by any name", config: handlers.Config{Keys: secret}, header: []string{"Accept", "*/*", "Host", "evil.example"}, status: 200, has: `{"status":"ok"}`},
		{name: "a POST", method: "POST", header: []string{"Accept", "*/*"}, status: 405, has: `"error"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			method := tt.method
			if method == "" {
				method = "GET"
			}
			w := ask(t, newHandler(t, tt.config), method, "/", nil, tt.header...)
			body := w.Body.String()
			if w.Code != tt.status || !strings.Contains(body, tt.has) || tt.hasNo != "" && strings.Contains(body, tt.hasNo) {
				t.Errorf("status %d, want %d with %q and without %q\n%s", w.Code, tt.status, tt.has, tt.hasNo, body)
			}
			want := "application/json"
			if tt.html {
				want = "text/html; charset=utf-8"
			}
			if got := w.Header().Get("Content-Type"); got != want {
				t.Errorf("Content-Type is %q, want %q", got, want)
			}
			if got := w.Header().Get("Content-Security-Policy"); (got != "") != tt.html {
				t.Errorf("Content-Security-Policy is %q", got)
			}
			if tt.status == 200 && w.Header().Get("Vary") != "Accept" {
				t.Errorf("Vary is %q, want Accept", w.Header().Get("Vary"))
			}
		})
	}
}

func machine(context.Context) site.Status { return site.Status{Version: "v9.9.9"} }

// TestFilesOfPages holds that scripts and style sheets need no key, but the right host; and
// that what is missing is told in the form that the client reads.
func TestFilesOfPages(t *testing.T) {
	docs := fstest.MapFS{"index.html": {Data: []byte("<p>")}, "openai/a.html": {Data: []byte("<p>")}}
	h := newHandler(t, handlers.Config{Docs: docs, Keys: handlers.NewKeys(handlers.Key{Name: "k", Key: "secret"})})
	for _, tt := range []struct {
		name, method, path string
		header             []string
		status             int
		contentType        string
	}{
		{"a script", "GET", "/site/home.js", nil, 200, "text/javascript; charset=utf-8"},
		{"its head alone", "HEAD", "/site/home.js", nil, 200, "text/javascript; charset=utf-8"},
		{"a style sheet", "GET", "/site/site.css", nil, 200, "text/css; charset=utf-8"},
		{"the reference", "GET", "/docs/", nil, 200, "text/html; charset=utf-8"},
		{"a page of it", "GET", "/docs/openai/a.html", nil, 200, "text/html; charset=utf-8"},
		{"under another host name", "GET", "/site/home.js", []string{"Host", "evil.example"}, 403, "application/json"},
		{"no such file, to a program", "GET", "/site/none.js", nil, 404, "application/json"},
		{"no such page, to a browser", "GET", "/docs/none/", []string{"Accept", browserAccepts}, 404, "text/html; charset=utf-8"},
		{"no such page, to a program", "GET", "/docs/none/", nil, 404, "application/json"},
		{"no such page, to an Anthropic client", "GET", "/docs/none/", []string{"Anthropic-Version", "x"}, 404, "application/json"},
		{"no form", "POST", "/site/home.js", nil, 405, "application/json"},
		{"no path of an API, to a browser", "GET", "/v1/none", []string{"Accept", browserAccepts, "X-Api-Key", "secret"}, 404, "application/json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(t, h, tt.method, tt.path, nil, tt.header...)
			if w.Code != tt.status || w.Header().Get("Content-Type") != tt.contentType {
				t.Errorf("status %d, %q; want %d, %q\n%s", w.Code, w.Header().Get("Content-Type"), tt.status, tt.contentType, w.Body)
			}
		})
	}
}

// TestLinksOfThePage holds that the page at / links only to what is there, relative to itself:
// a proxy may serve it below a path.
func TestLinksOfThePage(t *testing.T) {
	h := newHandler(t, handlers.Config{Docs: fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}}})
	page := ask(t, h, "GET", "/", nil, "Accept", browserAccepts).Body.String()
	links := regexp.MustCompile(`(?:href|src)="([^"#]+)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 6 {
		t.Fatalf("there are %d links in\n%s", len(links), page)
	}
	for _, link := range links {
		if w := ask(t, h, "GET", "/"+link[1], nil); w.Code != 200 {
			t.Errorf("%s: status %d", link[1], w.Code)
		}
	}
}

// TestPagesHavePathsOfTheirOwn holds that no document has a path below those of pages.
func TestPagesHavePathsOfTheirOwn(t *testing.T) {
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range []*openapi.Document{documents.OpenAI, documents.Anthropic} {
		for _, o := range document.Operations() {
			for _, prefix := range []string{"/docs", "/site", "/openapi"} {
				if o.Path == "/" || o.Path == prefix || strings.HasPrefix(o.Path, prefix+"/") {
					t.Errorf("%s %s is where pages are", o.Method, o.Path)
				}
			}
		}
	}
}
