package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	ocireg "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/internal/hostname"
)

// session is one pull or push.
type session struct {
	*Client
	name  store.Name
	host  host
	base  url.URL // scheme and host of all requests
	http  *http.Client
	auth  *auth.Client
	token string // bearer token for a host without a token server
}

// open prepares the requests to a model's registry. It probes only hosts that
// may be used without TLS.
func (c *Client) open(ctx context.Context, n store.Name) (*session, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	s := &session{Client: c, name: n, host: hostOf(n.Host)}
	s.http = &http.Client{Transport: c.config.Transport, CheckRedirect: checkRedirect}
	credential, err := s.credentials()
	if err != nil {
		return nil, err
	}
	s.auth = &auth.Client{
		Client:     s.http,
		Cache:      auth.NewCache(),
		Credential: credential,
		Header:     http.Header{"User-Agent": {c.config.UserAgent}},
		ClientID:   c.config.UserAgent,
	}
	if s.host.tokens {
		found, err := credential(ctx, s.host.api)
		if err != nil {
			return nil, failure(err, "the login for %s cannot be read", n.Host)
		}
		s.token = found.Password
	}
	scheme, err := s.scheme(ctx)
	if err != nil {
		return nil, err
	}
	s.base = url.URL{Scheme: scheme, Host: s.host.api}
	return s, nil
}

// credentials looks up logins in Docker's configuration.
func (s *session) credentials() (auth.CredentialFunc, error) {
	none := func(context.Context, string) (auth.Credential, error) { return auth.EmptyCredential, nil }
	if s.config.DockerConfig == "" {
		return none, nil
	}
	store, err := credentials.NewStore(s.config.DockerConfig, credentials.StoreOptions{})
	if err != nil {
		return nil, failure(err, "the logins in %s cannot be read: %v", s.config.DockerConfig, err)
	}
	find := credentials.Credential(store)
	return func(ctx context.Context, hostport string) (auth.Credential, error) {
		found, err := find(ctx, hostport)
		// Other names of the registry apply only to the registry itself, not to
		// its token server.
		for _, other := range s.host.logins {
			if err != nil || found != auth.EmptyCredential || hostport != s.host.api {
				break
			}
			found, err = find(ctx, other)
		}
		return found, err
	}, nil
}

// scheme is http for hosts that may be used without TLS and do not offer it, and
// otherwise https.
func (s *session) scheme(ctx context.Context) (string, error) {
	name := s.host.api
	if !hostname.Loopback(name) && !s.config.PlainHTTP(s.name.Host) {
		return "https", nil
	}
	s.mu.Lock()
	known := s.schemes[name]
	s.mu.Unlock()
	if known != "" {
		return known, nil
	}
	probe, guard := watch(ctx, s.config.Stall)
	defer guard.stop()
	req, err := http.NewRequestWithContext(probe, http.MethodGet, "https://"+name+"/v2/", nil)
	if err != nil {
		return "", err
	}
	resp, err := s.http.Do(req)
	var certificate *tls.CertificateVerificationError
	var scheme string
	switch {
	case err == nil:
		drain(resp.Body)
		scheme = "https"
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &certificate):
		return "https", nil // the next request reports the error
	case errors.Is(err, http.ErrSchemeMismatch):
		scheme = "http"
	default:
		return "http", nil // not reachable now: probe again next time
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.schemes[name] = scheme
	return scheme, nil
}

// repository is the model's name in the protocol, without its tag.
func (s *session) repository() string { return repositoryOf(s.name) }

func repositoryOf(n store.Name) string { return n.Namespace + "/" + n.Model }

// remote is the repository for oras-go.
func (s *session) remote() *remote.Repository {
	return &remote.Repository{
		Client:    s.auth,
		Reference: ocireg.Reference{Registry: s.host.api, Repository: s.repository()},
		PlainHTTP: s.base.Scheme == "http",
	}
}

// The kinds of [session.get].
const (
	manifests = "manifests"
	blobs     = "blobs"
)

// get requests a manifest or a blob. Any status but 200 and 206 is a
// [*statusError].
func (s *session) get(ctx context.Context, kind, reference string, header http.Header) (*http.Response, error) {
	u := s.base
	u.Path = "/v2/" + s.repository() + "/" + kind + "/" + reference
	ctx = auth.AppendRepositoryScope(ctx, s.remote().Reference, auth.ActionPull)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	// Digests are of the uncompressed bytes.
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := s.do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent {
		defer resp.Body.Close()
		refusal := newStatusError(resp)
		if kind == blobs {
			refusal.blob = reference
		}
		return nil, refusal
	}
	return resp, nil
}

func (s *session) do(req *http.Request) (*http.Response, error) {
	if !s.host.tokens {
		return s.auth.Do(req)
	}
	req.Header.Set("User-Agent", s.config.UserAgent)
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	return s.http.Do(req)
}

// maxRedirects is net/http's default.
const maxRedirects = 10

// checkRedirect follows redirects to blob storage, but not from https to http,
// and without credentials.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("%s redirected %d times", via[0].URL.Host, len(via))
	}
	first := via[0].URL
	if first.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("%s redirects to %s without TLS", first.Host, req.URL.Host)
	}
	// net/http keeps credentials for subdomains, which may belong to others, and
	// for a redirect back from another host.
	away := func(r *http.Request) bool { return r.URL.Scheme != first.Scheme || r.URL.Host != first.Host }
	if away(req) || slices.ContainsFunc(via, away) {
		req.Header.Del("Authorization")
	}
	return nil
}

// drain reads a short reply, so that its connection can be reused.
func drain(body io.ReadCloser) {
	io.CopyN(io.Discard, body, 4<<10)
	body.Close()
}
