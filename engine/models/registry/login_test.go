package registry_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/models/registry"
)

// TestLogin uses a registry that answers nobody without a password.
func TestLogin(t *testing.T) {
	t.Parallel()
	f := newFront(t, startLockedRegistry(t))
	from := newStore(t)
	m := create(t, from, parse(t, f.host+"/a/model"), large)
	for _, tt := range []struct {
		name, config string
		ok           bool
	}{
		{"nobody", "", false},
		{"no docker config", t.TempDir() + "/none.json", false},
		{"a login elsewhere", dockerConfig(t, "registry.example", user, password), false},
		{"a wrong password", dockerConfig(t, f.host, user, "sesame"), false},
		{"the right one", dockerConfig(t, f.host, user, password), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.use(nil)
			client := newClient(t, func(c *registry.Config) { c.DockerConfig = tt.config })
			to := newStore(t)
			err := client.Push(t.Context(), from, m.Name, nil)
			expectLogin(t, f, tt.ok, err)
			_, err = client.Pull(t.Context(), to, m.Name, nil)
			expectLogin(t, f, tt.ok, err)
			if tt.ok {
				expectSame(t, to, m)
				return
			}
			expectNothing(t, to)
			for _, r := range f.requests(func(r request) bool { return r.authorization != "" }) {
				if tt.name != "a wrong password" {
					t.Errorf("credentials came with %v", r)
				}
			}
		})
	}
}

func expectLogin(t *testing.T, f *front, ok bool, err error) {
	t.Helper()
	if ok {
		if err != nil {
			t.Error(err)
		}
		return
	}
	expectText(t, err, "docker login "+f.host)
	if !errors.Is(err, registry.ErrUnauthorized) {
		t.Errorf("%v is not ErrUnauthorized", err)
	}
}

func TestDockerConfigThatIsBroken(t *testing.T) {
	path := t.TempDir() + "/config.json"
	write(t, path, "{")
	client := newClient(t, func(c *registry.Config) { c.DockerConfig = path })
	_, err := client.Pull(t.Context(), newStore(t), parse(t, "registry.example/a/b"), nil)
	expectText(t, err, path)
}

// TestCredentialsStayWithTheirHost has a registry that sends to another host
// for its blobs, as many do, and wants no password there.
func TestCredentialsStayWithTheirHost(t *testing.T) {
	t.Parallel()
	behind := startLockedRegistry(t)
	f := newFront(t, behind)
	config := dockerConfig(t, f.host, user, password)
	client := newClient(t, func(c *registry.Config) { c.DockerConfig = config })
	from := newStore(t)
	m := create(t, from, parse(t, f.host+"/a/model"), large)
	if err := client.Push(t.Context(), from, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	other := newContentServer(t, from.BlobPath(weights(m).Digest), func(r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("the password went to another host: %s", r.URL)
		}
	})
	f.use(onBlob(weights(m).Digest.String(), func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="cave"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, other.URL+"/signed?x=1", http.StatusTemporaryRedirect)
	}))
	to := newStore(t)
	if _, err := client.Pull(t.Context(), to, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	expectSame(t, to, m)
}

// newContentServer serves one file under every path, with ranges.
func newContentServer(t *testing.T, path string, see func(*http.Request)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		see(r)
		http.ServeFile(w, r, path)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestEncryptionIsKept has a registry with TLS that sends to a server without.
func TestEncryptionIsKept(t *testing.T) {
	t.Parallel()
	f := newFront(t, startRegistry(t))
	m := publish(t, f, "a/model")
	plain := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was asked for without encryption", r.URL)
	}))
	t.Cleanup(plain.Close)
	safe := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, plain.URL+r.URL.Path, http.StatusFound)
			return
		}
		w.Write(m.Raw)
	}))
	t.Cleanup(safe.Close)
	client := newClient(t, func(c *registry.Config) { c.Transport, c.Tries = safe.Client().Transport, 2 })
	_, err := client.Pull(t.Context(), newStore(t), parse(t, strings.TrimPrefix(safe.URL, "https://")+"/a/model"), nil)
	expectText(t, err, "without TLS")
}
