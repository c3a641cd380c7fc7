package site

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/diglot/diglot/engine"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// docs are some files of a reference.
var docs = fstest.MapFS{
	"index.html":       {Data: []byte("<!doctype html><title>Reference</title>")},
	"chat/index.html":  {Data: []byte("<!doctype html><title>Chat</title>")},
	"search.js":        {Data: []byte("export {}\n")},
	"site.css":         {Data: []byte("a{}\n")},
	"index.json":       {Data: []byte("[]\n")},
	"empty/readme.bin": {Data: []byte("x")},
}

func newSite(t *testing.T, c Config) *Site {
	t.Helper()
	if c.Models == nil {
		c.Models = func(context.Context) ([]engine.Model, error) { return []engine.Model{{Name: "m"}}, nil }
	}
	c.Clock = func() time.Time { return noon }
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get asks s for a path as a client that is known.
func get(t *testing.T, s *Site, method, path string, header ...string) (*httptest.ResponseRecorder, *engine.Error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	return w, s.Serve(w, r, Visitor{Known: true})
}

func TestPrefersHTML(t *testing.T) {
	for _, tt := range []struct {
		name, accept string
		want         bool
	}{
		{"Chrome", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7", true},
		{"Firefox", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
		{"a text browser", "text/html, text/plain, text/sgml, */*;q=0.01", true},
		{"upper case", "TEXT/HTML", true},
		{"Java's client, by default", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", true},
		{"HTML rather than JSON", "application/json;q=0.5, text/html", true},
		{"nothing", "", false},
		{"curl", "*/*", false},
		{"an SDK", "application/json", false},
		{"a client in a browser", "application/json, text/plain, */*", false},
		{"JSON as much as HTML", "text/html, application/json", false},
		{"JSON rather than HTML", "text/html;q=0.8, application/json;q=0.9", false},
		{"a stream", "text/event-stream", false},
		{"any text", "text/*", false},
		{"no HTML", "text/html;q=0, */*", false},
		{"a weight that is none", "text/html;q=much", false},
		{"a weight beyond the scale", "text/html;q=2", false},
		{"rubbish", ";;,,=q;text/html=", false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		if tt.accept != "" {
			r.Header.Set("Accept", tt.accept)
		}
		if got := PrefersHTML(r); got != tt.want {
			t.Errorf("%s: PrefersHTML(%q) = %v", tt.name, tt.accept, got)
		}
	}
	lines := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	lines.Header["Accept"] = []string{"text/html", "application/json"}
	if PrefersHTML(lines) {
		t.Error("a second line of Accept is not read")
	}
}

func TestFiles(t *testing.T) {
	s := newSite(t, Config{Docs: docs})
	for _, tt := range []struct {
		name, path  string
		status      int
		contentType string
		location    string
	}{
		{"the reference without a slash", "/docs", 301, "", "/docs/"},
		{"with a query", "/docs?q=stop", 301, "", "/docs/?q=stop"},
		{"the reference", "/docs/", 200, "text/html; charset=utf-8", ""},
		{"a page", "/docs/chat/", 200, "text/html; charset=utf-8", ""},
		{"a page without a slash", "/docs/chat", 301, "", "/docs/chat/"},
		{"a page by its file", "/docs/chat/index.html", 200, "text/html; charset=utf-8", ""},
		{"a script", "/docs/search.js", 200, "text/javascript; charset=utf-8", ""},
		{"a style sheet", "/docs/site.css", 200, "text/css; charset=utf-8", ""},
		{"data", "/docs/index.json", 200, "application/json", ""},
		{"our own script", "/site/home.js", 200, "text/javascript; charset=utf-8", ""},
		{"our own icon", "/site/icon.svg", 200, "image/svg+xml", ""},
		{"no such page", "/docs/none", 404, "", ""},
		{"a folder without a page", "/docs/empty/", 404, "", ""},
		{"a folder without a page or a slash", "/docs/empty", 404, "", ""},
		{"a kind of file that a site has not", "/docs/empty/readme.bin", 404, "", ""},
		{"above", "/docs/../site.go", 404, "", ""},
		{"above, from our own", "/site/../home.html", 404, "", ""},
		{"our own folder", "/site/", 404, "", ""},
		{"another server", "/docs//evil.example", 404, "", ""},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w, err := get(t, s, method, tt.path)
			if err != nil {
				if tt.status != 404 || err.Code != engine.CodeNotFound {
					t.Errorf("%s: %s %s: %v", tt.name, method, tt.path, err)
				}
				continue
			}
			if w.Code != tt.status || w.Header().Get("Content-Type") != tt.contentType || w.Header().Get("Location") != tt.location {
				t.Errorf("%s: %s %s: status %d, %q, to %q", tt.name, method, tt.path, w.Code, w.Header().Get("Content-Type"), w.Header().Get("Location"))
			}
			checkSecure(t, tt.name, w.Header())
			if (w.Body.Len() > 0) != (method == "GET" && tt.status == 200) {
				t.Errorf("%s: %s %s: %d bytes", tt.name, method, tt.path, w.Body.Len())
			}
		}
	}
}

func checkSecure(t *testing.T, name string, h http.Header) {
	t.Helper()
	policy := h.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
		"base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%s: the policy %q lacks %s", name, policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("%s: the policy is %q", name, policy)
	}
	if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%s: %v", name, h)
	}
}

func TestRevalidation(t *testing.T) {
	s := newSite(t, Config{Docs: docs})
	first, err := get(t, s, "GET", "/docs/")
	if err != nil {
		t.Fatal(err)
	}
	tag := first.Header().Get("ETag")
	if tag == "" || first.Header().Get("Cache-Control") != "no-cache" {
		t.Fatalf("headers %v", first.Header())
	}
	again, err := get(t, s, "GET", "/docs/", "If-None-Match", tag)
	if err != nil || again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("status %d with %d bytes, %v; want 304", again.Code, again.Body.Len(), err)
	}
	other, err := get(t, s, "GET", "/docs/chat/", "If-None-Match", tag)
	if err != nil || other.Code != http.StatusOK {
		t.Errorf("status %d, %v; another page has another ETag", other.Code, err)
	}
}

func TestMethods(t *testing.T) {
	s := newSite(t, Config{Docs: docs})
	for _, path := range []string{"/", "/docs", "/docs/", "/site/home.js"} {
		w, err := get(t, s, "POST", path)
		if err == nil || err.Code != engine.CodeMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %v, Allow %q", path, err, w.Header().Get("Allow"))
		}
	}
}

func TestWithoutReference(t *testing.T) {
	s := newSite(t, Config{})
	for _, path := range []string{"/docs", "/docs/", "/docs/chat/"} {
		if _, err := get(t, s, "GET", path); err == nil || err.Code != engine.CodeNotFound {
			t.Errorf("%s: %v", path, err)
		}
	}
	w, err := get(t, s, "GET", "/")
	if err != nil || strings.Contains(w.Body.String(), `href="docs/"`) {
		t.Errorf("the page links to a reference that is not there: %v\n%s", err, w.Body)
	}
}

// TestAssetsAreServed holds that no asset has an ending without a content type.
func TestAssetsAreServed(t *testing.T) {
	s := newSite(t, Config{})
	count := 0
	err := fs.WalkDir(s.assets, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		count++
		if w, err := get(t, s, "GET", "/site/"+name); err != nil || w.Code != http.StatusOK {
			t.Errorf("%s: status %d, %v", name, w.Code, err)
		}
		return nil
	})
	if err != nil || count == 0 {
		t.Errorf("%d assets, %v", count, err)
	}
}

func TestErrorPages(t *testing.T) {
	s := newSite(t, Config{Docs: docs})
	for code, status := range map[engine.Code]int{
		engine.CodeNotFound: 404, engine.CodeMethodNotAllowed: 405, engine.CodeForbidden: 403, engine.CodeInternal: 500,
	} {
		w := httptest.NewRecorder()
		s.WriteError(w, engine.Errorf(code, "Not <b>here</b>."))
		body := w.Body.String()
		if w.Code != status || w.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(body, "Not &lt;b&gt;here&lt;/b&gt;.") {
			t.Errorf("%s: status %d, %s\n%s", code, w.Code, w.Header().Get("Content-Type"), body)
		}
		checkSecure(t, string(code), w.Header())
	}
}
