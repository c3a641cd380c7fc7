package registry_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/engine/models/registry"
	"github.com/diglot/diglot/engine/models/store"
)

// internet is a network of servers with TLS, by the names of their hosts.
// The test's certificate is taken for all of them.
type internet struct {
	mu    sync.Mutex
	hosts map[string]http.HandlerFunc
	asked []string
}

// transport is how a client gets into it.
func (i *internet) transport(t *testing.T) *http.Transport {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.asked = append(i.asked, r.Method+" "+r.Host+r.URL.Path)
		serve := i.hosts[r.Host]
		i.mu.Unlock()
		if serve == nil {
			t.Errorf("a host that is not there was asked: %s%s", r.Host, r.URL)
			return
		}
		serve(w, r)
	}))
	server.Config.ErrorLog = quiet
	server.StartTLS()
	t.Cleanup(server.Close)
	transport := registry.NewTransport(nil)
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	pool := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, ServerName: "example.com"} // a name that the certificate has
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// expectAsked checks which hosts got requests.
func (i *internet) expectAsked(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, a := range i.asked {
		_, rest, _ := strings.Cut(a, " ")
		host, _, _ := strings.Cut(rest, "/")
		if !slices.Contains(got, host) {
			got = append(got, host)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the hosts %v were asked, want %v", got, want)
	}
}

func expectAccept(t *testing.T, r *http.Request) {
	if accept := r.Header["Accept"]; !slices.Equal(accept, []string{store.MediaTypeManifest}) {
		t.Errorf("the header Accept is %q", accept)
	}
}

// digestIn is the digest in the path of a request for a blob.
func digestIn(r *http.Request) digest.Digest {
	return digest.Digest(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
}

// storage is a server of blobs for signed addresses, as Cloudflare's and
// Hugging Face's are: GET alone is signed for, ranges are served, and a
// request with any credentials is refused.
func storage(t *testing.T, s *store.Store) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("credentials went to the storage")
			http.Error(w, "only one way to authenticate is allowed", http.StatusBadRequest)
			return
		}
		if r.Method != http.MethodGet || !r.URL.Query().Has("signature") {
			http.Error(w, "SignatureDoesNotMatch", http.StatusForbidden)
			return
		}
		http.ServeFile(w, r, s.BlobPath(digestIn(r)))
	}
}

// TestOllama pulls from a server with the habits of Ollama's: manifests are
// text/plain, have neither length nor digest in their headers and answer GET
// alone; blobs are elsewhere; refusals have a body of their own.
func TestOllama(t *testing.T) {
	t.Parallel()
	const cdn = "dd20.r2.cloudflarestorage.example"
	from := newStore(t)
	m := create(t, from, parse(t, "qwen2.5:0.5b"), large)
	net := &internet{}
	net.hosts = map[string]http.HandlerFunc{
		cdn: storage(t, from),
		"registry.ollama.ai": func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method != http.MethodGet:
				w.WriteHeader(http.StatusMethodNotAllowed)
			case r.URL.Path == "/v2/library/qwen2.5/manifests/0.5b":
				expectAccept(t, r)
				w.Header().Set("Content-Type", "text/plain; charset=utf-8")
				w.Write(m.Raw[:10])
				http.NewResponseController(w).Flush() // so that there is no length
				w.Write(m.Raw[10:])
			case strings.HasPrefix(r.URL.Path, "/v2/library/qwen2.5/blobs/"):
				http.Redirect(w, r, "https://"+cdn+"/ollama/"+strings.TrimPrefix(r.URL.Path, "/v2/library/qwen2.5/blobs/")+"?signature=1", http.StatusTemporaryRedirect)
			default:
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown","detail":{"Tag":"0.5b"}}]}`)
			}
		},
	}
	client := newClient(t, func(c *registry.Config) { c.Transport = net.transport(t) })
	to := newStore(t)
	bar := newTape(t)
	if _, err := client.Pull(t.Context(), to, m.Name, bar.note); err != nil {
		t.Fatal(err)
	}
	expectSame(t, to, m)
	bar.expectEnd(m, registry.StatusDone)
	net.expectAsked(t, "registry.ollama.ai", cdn)

	_, err := client.Pull(t.Context(), to, parse(t, "qwen3.5"), nil)
	expectText(t, err, "registry.ollama.ai has no model qwen3.5", "manifest unknown")
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v is not ErrNotFound", err)
	}
}

// hub is a server with the habits of Hugging Face's: a tag is the name of a
// quantisation, in any case; what it does not have or does not show is 401,
// with a challenge that names no server of tokens; a tag that it does not
// have is 400; manifests have no address by digest; blobs are elsewhere, large
// ones after two redirects, the first of them relative.
func hub(t *testing.T, s *store.Store, m *store.Model, token string) map[string]http.HandlerFunc {
	const large = "cas-bridge.xethub.hf.example"
	repository := "/v2/" + m.Name.Namespace + "/" + m.Name.Model
	return map[string]http.HandlerFunc{
		large: storage(t, s),
		"hf.co": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://huggingface.co"+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"huggingface.co": func(w http.ResponseWriter, r *http.Request) {
			rest, ok := strings.CutPrefix(r.URL.Path, repository)
			if token != "" && r.Header.Get("Authorization") != "Bearer "+token || !ok {
				w.Header().Set("WWW-Authenticate", `Bearer realm="Authentication required", charset="UTF-8"`)
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprint(w, `{"error":"Invalid username or password."}`)
				return
			}
			switch kind, reference, _ := strings.Cut(rest[1:], "/"); kind {
			case "manifests":
				expectAccept(t, r)
				if !strings.EqualFold(reference, m.Name.Tag) && reference != "latest" {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, `{"error":"The specified tag is not available in the repository. Please use another tag or \"latest\""}`)
					return
				}
				w.Header().Set("Content-Type", store.MediaTypeManifest)
				w.Write(m.Raw)
			case "blobs":
				http.Redirect(w, r, "/api/resolve-cache/"+reference, http.StatusFound)
			}
		},
	}
}

// resolved adds the second redirect of blobs to a hub.
func resolved(hosts map[string]http.HandlerFunc) map[string]http.HandlerFunc {
	first := hosts["huggingface.co"]
	hosts["huggingface.co"] = func(w http.ResponseWriter, r *http.Request) {
		if blob, ok := strings.CutPrefix(r.URL.Path, "/api/resolve-cache/"); ok {
			http.Redirect(w, r, "https://cas-bridge.xethub.hf.example/xet-bridge-us/"+blob+"?signature=a%2Bb", http.StatusFound)
			return
		}
		first(w, r)
	}
	return hosts
}

func TestHuggingFace(t *testing.T) {
	t.Parallel()
	const token = "hf_secret"
	for _, tt := range []struct {
		name, pull string
		secret     string // that the server wants
		config     string // under which host it is stored
		say        string // empty: it succeeds
	}{
		{"a quantisation", "hf.co/Org/Some-Repo-GGUF:Q4_K_M", "", "", ""},
		{"in other letters", "hf.co/Org/Some-Repo-GGUF:q4_k_m", "", "", ""},
		{"the default", "hf.co/Org/Some-Repo-GGUF", "", "", ""},
		{"the long name", "huggingface.co/Org/Some-Repo-GGUF:Q4_K_M", "", "", ""},
		{"a private one", "hf.co/Org/Some-Repo-GGUF:Q4_K_M", token, "hf.co", ""},
		{"a private one, logged in by the long name", "hf.co/Org/Some-Repo-GGUF:Q4_K_M", token, "huggingface.co", ""},
		{"a private one of the long name", "huggingface.co/Org/Some-Repo-GGUF:Q4_K_M", token, "hf.co", ""},
		{"a private one for nobody", "hf.co/Org/Some-Repo-GGUF:Q4_K_M", token, "", "docker login hf.co"},
		{"a private one, logged in elsewhere", "hf.co/Org/Some-Repo-GGUF:Q4_K_M", token, "registry.example", "docker login hf.co"},
		{"no such repository", "hf.co/Org/Other", "", "", "hf.co has no model hf.co/Org/Other that you may read (Invalid username or password)"},
		{"no such quantisation", "hf.co/Org/Some-Repo-GGUF:Q1_0", "", "", "The specified tag is not available"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from := newStore(t)
			m := create(t, from, parse(t, "hf.co/Org/Some-Repo-GGUF:Q4_K_M"), large)
			net := &internet{hosts: resolved(hub(t, from, m, tt.secret))}
			config := ""
			if tt.config != "" {
				config = dockerConfig(t, tt.config, "me", token)
			}
			client := newClient(t, func(c *registry.Config) { c.Transport, c.DockerConfig = net.transport(t), config })
			to := newStore(t)
			got, err := client.Pull(t.Context(), to, parse(t, tt.pull), nil)
			if tt.say != "" {
				expectText(t, err, tt.say)
				expectNothing(t, to)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Raw, m.Raw) || got.Name != parse(t, tt.pull) {
				t.Errorf("%s was pulled, with the manifest %s", got.Name, got.Raw)
			}
			copied := *m
			copied.Name = got.Name
			expectSame(t, to, &copied)
			net.expectAsked(t, "huggingface.co", "cas-bridge.xethub.hf.example")
		})
	}
}

// TestHuggingFaceIsBusy has the limit that those without an account meet.
func TestHuggingFaceIsBusy(t *testing.T) {
	net := &internet{hosts: map[string]http.HandlerFunc{"huggingface.co": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"error":"We had to rate limit your IP (203.0.113.7). To continue using our service, create a HF account."}`)
	}}}
	client := newClient(t, func(c *registry.Config) { c.Transport, c.Tries = net.transport(t), 2 })
	_, err := client.Pull(t.Context(), newStore(t), parse(t, "hf.co/Org/Repo:Q4_K_M"), nil)
	expectText(t, err, "hf.co limits the rate of requests", "create a HF account")
}

// TestSignedAddressesEnd has a storage whose signatures are over when they
// are used for the first time: each attempt asks the registry for a new one.
func TestSignedAddressesEnd(t *testing.T) {
	t.Parallel()
	from := newStore(t)
	m := create(t, from, parse(t, "qwen2.5:0.5b"), large)
	serve := storage(t, from)
	ended := times(5, status(http.StatusForbidden, "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"))
	net := &internet{hosts: map[string]http.HandlerFunc{
		"storage.example": func(w http.ResponseWriter, r *http.Request) { ended(w, r, serve) },
		"registry.ollama.ai": func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/manifests/") {
				w.Write(m.Raw)
				return
			}
			http.Redirect(w, r, "https://storage.example"+r.URL.Path+"?signature=1", http.StatusTemporaryRedirect)
		},
	}}
	to := newStore(t)
	client := newClient(t, func(c *registry.Config) { c.Transport = net.transport(t) })
	if _, err := client.Pull(t.Context(), to, m.Name, nil); err != nil {
		t.Fatal(err)
	}
	expectSame(t, to, m)
}

// TestOtherRegistriesGiveTokens is the way of the protocol: a challenge names
// a server, which gives a token for a login.
func TestOtherRegistriesGiveTokens(t *testing.T) {
	from := newStore(t)
	m := create(t, from, parse(t, "registry.example/a/b"), 1000)
	net := &internet{hosts: map[string]http.HandlerFunc{
		"auth.example": func(w http.ResponseWriter, r *http.Request) {
			if name, secret, _ := r.BasicAuth(); name != user || secret != password {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			if q := r.URL.Query(); q.Get("service") != "registry" || q.Get("scope") != "repository:a/b:pull" {
				t.Errorf("a token was asked for by %s", r.URL.RawQuery)
			}
			io.WriteString(w, `{"token":"t0k3n"}`)
		},
		"registry.example": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer t0k3n" {
				w.Header().Set("WWW-Authenticate", `Bearer realm="https://auth.example/token",service="registry",scope="repository:a/b:pull"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			if strings.Contains(r.URL.Path, "/manifests/") {
				w.Write(m.Raw)
				return
			}
			f, err := os.Open(from.BlobPath(digestIn(r)))
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			http.ServeContent(w, r, "", time.Time{}, f)
		},
	}}
	transport := net.transport(t)
	for _, tt := range []struct {
		password string
		ok       bool
	}{{password, true}, {"wrong", false}} {
		config := dockerConfig(t, "registry.example", user, tt.password)
		client := newClient(t, func(c *registry.Config) { c.Transport, c.DockerConfig = transport, config })
		to := newStore(t)
		_, err := client.Pull(t.Context(), to, m.Name, nil)
		if !tt.ok {
			expectText(t, err, "docker login registry.example")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		expectSame(t, to, m)
	}
}
