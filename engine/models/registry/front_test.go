package registry_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// front stands before a registry. It notes what is asked, and may answer
// itself.
type front struct {
	host string // where it listens

	mu    sync.Mutex
	asked []request
	fault fault
}

// request is what a front notes.
type request struct {
	method, path, span string // span: the header Range
	authorization      string
}

func (r request) blob() bool     { return strings.Contains(r.path, "/blobs/sha256:") }
func (r request) String() string { return strings.TrimSpace(r.method + " " + r.path + " " + r.span) }

// fault answers a request, or passes it on to the registry.
type fault func(w http.ResponseWriter, r *http.Request, registry http.Handler)

// newFront starts a front. Behind it is the program at an address, or nothing.
func newFront(t *testing.T, behind string) *front {
	t.Helper()
	var next http.Handler = http.NotFoundHandler()
	if behind != "" {
		next = &httputil.ReverseProxy{
			Rewrite: func(p *httputil.ProxyRequest) {
				p.SetURL(&url.URL{Scheme: "http", Host: behind})
				p.Out.Host = p.In.Host
			},
			ErrorLog: quiet,
		}
	}
	f := &front{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, request{r.Method, r.URL.Path, r.Header.Get("Range"), r.Header.Get("Authorization")})
		fault := f.fault
		f.mu.Unlock()
		if fault == nil {
			next.ServeHTTP(w, r)
			return
		}
		fault(w, r, next)
	}))
	server.Config.ErrorLog = quiet
	t.Cleanup(server.Close)
	f.host = strings.TrimPrefix(server.URL, "http://")
	return f
}

// use makes the front answer otherwise from now on, and forget what was
// asked.
func (f *front) use(fault fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.asked = fault, nil
}

// requests gives what was asked and is of a kind.
func (f *front) requests(kind func(request) bool) []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []request
	for _, r := range f.asked {
		if kind(r) {
			found = append(found, r)
		}
	}
	return found
}

// onBlob applies a fault to downloads of a blob alone.
func onBlob(digest string, then fault) fault {
	return func(w http.ResponseWriter, r *http.Request, registry http.Handler) {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/blobs/"+digest) {
			registry.ServeHTTP(w, r)
			return
		}
		then(w, r, registry)
	}
}

// onManifest answers for every manifest with a text.
func onManifest(text []byte, header http.Header) fault {
	return func(w http.ResponseWriter, r *http.Request, registry http.Handler) {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			registry.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v2+json")
		for k, v := range header {
			w.Header()[k] = v
		}
		w.Write(text)
	}
}

// times applies a fault to the first n requests that reach it.
func times(n int, then fault) fault {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request, registry http.Handler) {
		mu.Lock()
		n--
		left := n
		mu.Unlock()
		if left < 0 {
			registry.ServeHTTP(w, r)
			return
		}
		then(w, r, registry)
	}
}

// cut lets n bytes of a body through and closes the connection.
func cut(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, registry http.Handler) {
		registry.ServeHTTP(&limited{ResponseWriter: w, left: n, then: func() { panic(http.ErrAbortHandler) }}, r)
	}
}

// silence lets n bytes of a body through and then nothing, until the client
// goes away.
func silence(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, registry http.Handler) {
		registry.ServeHTTP(&limited{ResponseWriter: w, left: n, then: func() {
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		}}, r)
	}
}

// limited is a reply that ends early.
type limited struct {
	http.ResponseWriter
	left int
	then func()
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) < l.left {
		l.left -= len(p)
		return l.ResponseWriter.Write(p)
	}
	l.ResponseWriter.Write(p[:l.left])
	http.NewResponseController(l.ResponseWriter).Flush()
	l.then()
	return 0, http.ErrAbortHandler
}

// status answers with a status, headers and a text.
func status(code int, text string, header ...string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}
}

// flipped changes one bit of a body.
func flipped(w http.ResponseWriter, r *http.Request, registry http.Handler) {
	registry.ServeHTTP(&flipper{ResponseWriter: w}, r)
}

type flipper struct {
	http.ResponseWriter
	done bool
}

func (f *flipper) Write(p []byte) (int, error) {
	if !f.done && len(p) > 0 {
		f.done = true
		changed := append([]byte(nil), p...)
		changed[0] ^= 1
		return f.ResponseWriter.Write(changed)
	}
	return f.ResponseWriter.Write(p)
}

// noRanges is a registry that does not know what a range is.
func noRanges(w http.ResponseWriter, r *http.Request, registry http.Handler) {
	r.Header.Del("Range")
	registry.ServeHTTP(w, r)
}
