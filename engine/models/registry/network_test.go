package registry_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/diglot/diglot/engine/models/registry"
	"github.com/diglot/diglot/engine/models/store"
)

// TestProxy pulls from a host that only a proxy can reach.
func TestProxy(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	m := publish(t, f, "a/model")
	var passed atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect { // for the attempt with TLS
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if r.URL.Host != "registry.invalid" {
			t.Errorf("the proxy was asked for %s", r.URL)
		}
		passed.Add(1)
		out := r.Clone(r.Context())
		out.RequestURI, out.URL.Host, out.Host = "", f.host, f.host
		resp, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer resp.Body.Close()
		for k, v := range resp.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(resp.StatusCode)
		io.Copy(w, resp.Body)
	}))
	t.Cleanup(proxy.Close)
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := newClient(t, func(c *registry.Config) {
		c.Transport = registry.NewTransport(http.ProxyURL(address))
		c.PlainHTTP = func(host string) bool { return host == "registry.invalid" }
	})
	s := newStore(t)
	got, err := client.Pull(t.Context(), s, parse(t, "registry.invalid/a/model"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != m.Digest {
		t.Errorf("the digest is %s, want %s", got.Digest, m.Digest)
	}
	if passed.Load() < 20 {
		t.Errorf("only %d requests went through the proxy", passed.Load())
	}
}

// TestTunnel pulls over TLS through a proxy, which sees nothing but where to
// connect to.
func TestTunnel(t *testing.T) {
	t.Parallel()
	from := newStore(t)
	m := create(t, from, parse(t, "registry.example/a/model"), large)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/manifests/") {
			w.Write(m.Raw)
			return
		}
		http.ServeFile(w, r, from.BlobPath(digestIn(r)))
	}))
	t.Cleanup(server.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "registry.example:443" {
			t.Errorf("the proxy was asked for %s %s", r.Method, r.Host)
		}
		there, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer there.Close()
		w.WriteHeader(http.StatusOK)
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer here.Close()
		go io.Copy(there, here)
		io.Copy(here, there)
	}))
	t.Cleanup(proxy.Close)
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := registry.NewTransport(http.ProxyURL(address))
	pool := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, ServerName: "example.com"}
	t.Cleanup(transport.CloseIdleConnections)
	to := newStore(t)
	client := newClient(t, func(c *registry.Config) { c.Transport = transport })
	if _, err := client.Pull(t.Context(), to, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	expectSame(t, to, m)
}

// TestNetworkErrors says what a user reads when a registry cannot be spoken
// to at all.
func TestNetworkErrors(t *testing.T) {
	t.Parallel()
	plain := newFront(t, "").host
	unknown := httptest.NewTLSServer(http.NotFoundHandler())
	unknown.Config.ErrorLog = quiet
	t.Cleanup(unknown.Close)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	t.Cleanup(refusing.Close)
	closed := httptest.NewServer(nil)
	closed.Close()
	through := func(address string) http.RoundTripper {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return registry.NewTransport(http.ProxyURL(u))
	}
	dial := func(err error, address string) http.RoundTripper {
		transport := registry.NewTransport(nil)
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			if err != nil {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		return transport
	}
	for _, tt := range []struct {
		name, host string
		transport  http.RoundTripper
		say        []string
	}{
		{"no such name", "registry.invalid", dial(&net.DNSError{Err: "no such host", Name: "registry.invalid", IsNotFound: true}, ""), []string{"registry.invalid was not found", "no such host"}},
		{"nobody there", strings.TrimPrefix(closed.URL, "http://"), registry.NewTransport(nil), []string{"cannot be reached", "refused"}},
		{"a certificate that nobody knows", strings.TrimPrefix(unknown.URL, "https://"), registry.NewTransport(nil), []string{"certificate of 127.0.0.1", "unknown authority"}},
		{"no encryption", "registry.invalid", dial(nil, plain), []string{"registry.invalid does not use TLS"}},
		{"a proxy that wants a password", "registry.invalid", through(refusing.URL), []string{"proxy " + strings.TrimPrefix(refusing.URL, "http://"), "407", "registry.invalid"}},
		{"a proxy that is not there", "registry.invalid", through(closed.URL), []string{"proxy of HTTPS_PROXY", "refused"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client := newClient(t, func(c *registry.Config) { c.Transport, c.Tries = tt.transport, 2 })
			s := newStore(t)
			_, err := client.Pull(t.Context(), s, parse(t, tt.host+"/a/b"), nil)
			expectText(t, err, tt.say...)
			var ours *registry.Error
			if !errors.As(err, &ours) || ours.Err == nil {
				t.Errorf("the error %T has no cause", err)
			}
			expectNothing(t, s)
		})
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	publish(t, f, "a/model")
	for _, name := range []string{"/a/model:other", "/a/other", "/b/c/d/e"} {
		_, err := newClient(t, nil).Pull(t.Context(), newStore(t), parse(t, f.host+name), nil)
		expectText(t, err, f.host+" has no model "+f.host+name)
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v is not ErrNotFound", err)
		}
	}
	err := newClient(t, nil).Push(t.Context(), newStore(t), parse(t, f.host+"/a/b"), nil)
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v is not ErrNotFound", err)
	}
}

// TestNamesThatAreRefused were not made by ParseName.
func TestNamesThatAreRefused(t *testing.T) {
	f := newFront(t, "")
	good := store.Name{Host: f.host, Namespace: "a", Model: "b", Tag: "c"}
	for _, change := range []func(*store.Name){
		func(n *store.Name) { n.Host = "" },
		func(n *store.Name) { n.Host = f.host + "/../x" },
		func(n *store.Name) { n.Host = "user:password@" + f.host },
		func(n *store.Name) { n.Namespace = ".." },
		func(n *store.Name) { n.Namespace = "a/../../b" },
		func(n *store.Name) { n.Namespace = "/etc" },
		func(n *store.Name) { n.Model = "../../x" },
		func(n *store.Name) { n.Model = "a\x00b" },
		func(n *store.Name) { n.Model = `a\b` },
		func(n *store.Name) { n.Model = "модель" },
		func(n *store.Name) { n.Model = strings.Repeat("a", 1000) },
		func(n *store.Name) { n.Tag = "a?b#c" },
		func(n *store.Name) { n.Tag = "../blobs/x" },
		func(n *store.Name) { n.Tag = "" },
	} {
		n := good
		change(&n)
		s := newStore(t)
		client := newClient(t, nil)
		_, pull := client.Pull(t.Context(), s, n, nil)
		push := client.Push(t.Context(), s, n, nil)
		var name *store.NameError
		if !errors.As(pull, &name) || !errors.As(push, &name) {
			t.Errorf("%+v: pull says %v, push says %v", n, pull, push)
		}
	}
	if asked := f.requests(func(request) bool { return true }); len(asked) > 0 {
		t.Errorf("the registry was asked: %v", asked)
	}
}

func TestStoreThatIsReadOnly(t *testing.T) {
	f := newFront(t, "")
	s, err := store.Open(store.Options{Dir: t.TempDir(), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = newClient(t, nil).Pull(t.Context(), s, parse(t, f.host+"/a/b"), nil)
	if !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("the error is %v", err)
	}
}
