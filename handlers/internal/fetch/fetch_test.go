package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/internal/budget"
	"github.com/google/go-cmp/cmp"
)

func TestIsPublic(t *testing.T) {
	for _, tt := range []struct {
		address string
		want    bool
	}{
		{"93.184.215.14", true},
		{"1.1.1.1", true},
		{"172.15.255.255", true},
		{"172.32.0.0", true},
		{"2606:4700:4700::1111", true},
		{"::ffff:93.184.215.14", true},
		{"64:ff9b::5db8:d70e", true}, // 93.184.215.14

		{"0.0.0.0", false},
		{"10.1.2.3", false},
		{"100.64.0.1", false},
		{"127.0.0.1", false},
		{"127.255.255.254", false},
		{"169.254.169.254", false},
		{"172.16.0.1", false},
		{"172.31.255.255", false},
		{"192.0.0.8", false},
		{"192.168.1.1", false},
		{"198.19.0.1", false},
		{"224.0.0.1", false},
		{"255.255.255.255", false},
		{"::", false},
		{"::1", false},
		{"::ffff:127.0.0.1", false},
		{"::ffff:10.0.0.1", false},
		{"::127.0.0.1", false}, // the old form with an IPv4 address inside
		{"64:ff9b::7f00:1", false},
		{"64:ff9b::a9fe:a9fe", false}, // 169.254.169.254
		{"64:ff9b:1::1", false},
		{"fc00::1", false},
		{"fd12:3456::1", false},
		{"fe80::1", false},
		{"fe80::1%eth0", false},
		{"2606:4700::1%eth0", false},
		{"fec0::1", false},
		{"ff02::1", false},
		{"100::1", false},
		{"2001::1", false},
		{"2001:db8::1", false},
		{"2002:7f00:1::", false},
		{"3fff::1", false},
	} {
		if got := isPublic(netip.MustParseAddr(tt.address)); got != tt.want {
			t.Errorf("isPublic(%s) = %v, want %v", tt.address, got, tt.want)
		}
	}
}

// asked is an engine that remembers what it was asked.
type asked struct {
	engine.Engine
	request *engine.Request
}

func (a *asked) Models(context.Context) ([]engine.Model, error) {
	return []engine.Model{{Name: "m"}}, nil
}

func (a *asked) Generate(_ context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	a.request = req
	return func(yield func(engine.Event, error) bool) { yield(engine.Done{}, nil) }
}

func (a *asked) Count(_ context.Context, req *engine.Request) (int, error) {
	a.request = req
	return 7, nil
}

// request asks for images in two messages, the second in a tool result.
func request(urls ...string) *engine.Request {
	var images []engine.Part
	for _, u := range urls {
		images = append(images, engine.Image{URL: u})
	}
	return &engine.Request{Model: "m", Messages: []engine.Message{
		{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "Hi"}}},
		{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Parts: images}}},
	}}
}

// generate returns the error of a request.
func generate(ctx context.Context, e engine.Engine, req *engine.Request) *engine.Error {
	for _, err := range e.Generate(ctx, req) {
		if err != nil {
			return engine.AsError(err)
		}
	}
	return nil
}

func TestEngineFetches(t *testing.T) {
	hits := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/a.png", http.StatusFound)
			return
		}
		fmt.Fprint(w, "data of "+r.URL.Path)
	}))
	defer server.Close()
	host, _, _ := net.SplitHostPort(server.Listener.Addr().String())

	inner := &asked{}
	e := New(inner, []string{host})
	req := request(server.URL+"/a.png", server.URL+"/moved", server.URL+"/a.png")
	if err := generate(t.Context(), e, req); err != nil {
		t.Fatal(err)
	}
	a := engine.Image{Data: []byte("data of /a.png")}
	want := []engine.Part{engine.ToolResult{CallID: "1", Parts: []engine.Part{a, a, a}}}
	if diff := cmp.Diff(want, inner.request.Messages[1].Parts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(request(server.URL+"/a.png", server.URL+"/moved", server.URL+"/a.png"), req); diff != "" {
		t.Errorf("the client's request was changed: %s", diff)
	}
	if hits != 3 { // the same URL once
		t.Errorf("%d requests, want 3", hits)
	}
	if n, err := e.Count(t.Context(), req); n != 7 || err != nil || !cmp.Equal(want, inner.request.Messages[1].Parts) {
		t.Errorf("Count: %d, %v, asked %v", n, err, inner.request)
	}
}

func TestEngineRefuses(t *testing.T) {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/around":
			http.Redirect(w, r, "/around", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/login":
			http.Redirect(w, r, "http://user:secret@"+r.Host+"/", http.StatusFound)
		case "/inside": // another spelling of the allowed host is not allowed
			http.Redirect(w, r, strings.Replace(server.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
		case "/long":
			w.Write(bytes.Repeat([]byte("x"), maxBytes+1))
		case "/announced":
			w.Header().Set("Content-Length", fmt.Sprint(maxBytes+1))
		case "/cut":
			w.Header().Set("Content-Length", "10")
			w.Write([]byte("x"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	e := New(&asked{}, []string{"127.0.0.1"})
	for _, tt := range []struct{ name, url, want string }{
		{"not found", server.URL + "/nothing?token=secret", "the server answers with status 404"},
		{"redirects for ever", server.URL + "/around", "it redirects too often"},
		{"redirects to a file", server.URL + "/file", "only http and https are fetched"},
		{"redirects with a login", server.URL + "/login", "it holds a user name"},
		{"redirects inside", server.URL + "/inside", "its host has no public address"},
		{"too long", server.URL + "/long", "it has more than"},
		{"too long by its own word", server.URL + "/announced", "it has more than"},
		{"cut short", server.URL + "/cut", "does not answer as it should"},
		{"nobody there", closed.URL, "cannot be reached"},
		{"a name of this machine", "http://localhost:1/", "its host has no public address"},
		{"an address of this machine", "http://[::1]:1/", "its host has no public address"},
		{"mapped", "http://[::ffff:127.0.0.1]:1/", "its host has no public address"},
		{"a short address", "http://127.1:1/", ""},
		{"the metadata of clouds", "http://169.254.169.254/latest", "its host has no public address"},
		{"a scheme", "ftp://example.com/", "only http and https"},
		{"a login", "http://user:secret@example.com/", "it holds a user name"},
		{"no host", "http:///a.png", "not valid"},
		{"no URL", "http://%zz/", "not valid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := generate(t.Context(), e, request(tt.url))
			if err == nil || err.Code != engine.CodeInvalidArgument || !strings.Contains(err.Message, tt.want) {
				t.Fatalf("error %v, want one with %q", err, tt.want)
			}
			if strings.Contains(err.Message, "secret") {
				t.Errorf("the message tells a secret: %s", err.Message)
			}
			if want := (engine.Place{Field: engine.FieldMessages, Index: 1}); err.Place != want {
				t.Errorf("place %v, want %v", err.Place, want)
			}
		})
	}
}

func TestEngineTotal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(make([]byte, maxBytes))
	}))
	defer server.Close()
	e := New(&asked{}, []string{"127.0.0.1"})
	err := generate(t.Context(), e, request(server.URL+"/1", server.URL+"/2", server.URL+"/3"))
	if err == nil || !strings.Contains(err.Message, "/3 is too large") {
		t.Errorf("error %v, want the third image to be too large", err)
	}
}

// TestEngineTotalOfOne repeats one image: a small request that the model's process would
// get as a large one.
func TestEngineTotalOfOne(t *testing.T) {
	hits := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		w.Write(make([]byte, maxTotal/10))
	}))
	defer server.Close()
	e := New(&asked{}, []string{"127.0.0.1"})
	urls := slices.Repeat([]string{server.URL}, 11)
	if err := generate(t.Context(), e, request(urls[:10]...)); err != nil {
		t.Error(err)
	}
	err := generate(t.Context(), e, request(urls...))
	if err == nil || !strings.Contains(err.Message, "more than 67108864 bytes in total") {
		t.Errorf("error %v, want the images to be too large in all", err)
	}
	if hits != 2 {
		t.Errorf("%d requests, want one each", hits)
	}
}

// TestEngineTogether has the images of two requests exceed the shared memory; one of them
// succeeds.
func TestEngineTogether(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 1<<20))
	}))
	defer server.Close()
	e := New(&asked{}, []string{"127.0.0.1"})
	all := budget.New(5 << 20)
	ask := func(share *budget.Share) *engine.Error {
		return generate(exchange.With(t.Context(), &exchange.Exchange{Memory: share}), e, request(server.URL))
	}
	first, second, third := all.Share(), all.Share(), all.Share()
	if err := ask(first); err != nil {
		t.Fatal(err)
	}
	if err := ask(second); err == nil || err.Code != engine.CodeOverloaded || err.RetryAfter == 0 {
		t.Errorf("error %v, want overloaded", err)
	}
	second.Release()
	first.Release()
	if err := ask(third); err != nil {
		t.Errorf("after the first request has ended: %v", err)
	}
}

// TestEngineTooMany fetches nothing for a request that is refused for the
// number of its images.
func TestEngineTooMany(t *testing.T) {
	e := New(&asked{}, nil)
	e.fetcher.client.Transport = failing{t}
	err := generate(t.Context(), engine.Checked(e), request(slices.Repeat([]string{"http://example.com/"}, engine.MaxImages+1)...))
	if err == nil || err.Place.Index != 1 || !strings.Contains(err.Message, "more than 100 images") {
		t.Errorf("error %v, want too many images in the second message", err)
	}
}

// TestEngineSlow has a server that never answers.
func TestEngineSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFetcher(nil)
		f.client.Transport = silent{}
		e := &Engine{&asked{}, f}
		start := time.Now()
		err := generate(t.Context(), e, request("http://example.com/"))
		if err == nil || !strings.Contains(err.Message, "it takes too long") || time.Since(start) != maxTime {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := generate(ctx, e, request("http://example.com/")); err == nil || err.Code != engine.CodeCanceled {
			t.Errorf("a request that ended: %v", err)
		}
	})
}

type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestEngineUnknownModel fetches nothing for a model that is not there.
func TestEngineUnknownModel(t *testing.T) {
	e := New(&asked{}, nil)
	e.fetcher.client.Transport = failing{t}
	req := request("http://example.com/")
	req.Model = "other"
	if err := generate(t.Context(), e, req); err == nil || err.Code != engine.CodeModelNotFound {
		t.Error(err)
	}
}

type failing struct{ t *testing.T }

func (f failing) RoundTrip(r *http.Request) (*http.Response, error) {
	f.t.Errorf("%s was fetched", r.URL)
	return nil, errors.New("no")
}
