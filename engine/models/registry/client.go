package registry

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Config is what a [Client] needs to know of its surroundings. Only what a
// caller wants to differ must be set.
type Config struct {
	Log *slog.Logger // nil: nothing is logged

	// Transport carries all requests, those for tokens included. Proxies and
	// certificates are its business; [NewTransport] makes a suitable one.
	// Without it there is no proxy.
	Transport http.RoundTripper

	// DockerConfig is the path of docker's config.json, whose logins and
	// credential helpers are used; the file need not exist. It is read anew
	// for every pull and push. Empty: nobody is logged in.
	DockerConfig string

	// PlainHTTP reports whether a host, with its port if it has one, may be
	// spoken to without TLS. The user's own flag decides that, never a file
	// that was fetched. Hosts of this machine may always.
	PlainHTTP func(host string) bool

	UserAgent   string        // "diglot" without it
	Connections int           // at the same time, over all blobs of a pull; 0: 8
	Chunk       int64         // bytes of one request for a part of a blob; 0: 64 MiB
	Stall       time.Duration // a connection on which nothing came for so long is dropped; 0: 30 s
	Answer      time.Duration // for a manifest to arrive as a whole; 0: 60 s
	Tries       int           // of the same request for a blob before the pull or push fails; 0: 8
	Backoff     time.Duration // before the second try; it doubles for each; 0: 500 ms
}

const (
	defaultUserAgent   = "diglot"
	defaultConnections = 8
	defaultChunk       = 64 << 20
	defaultStall       = 30 * time.Second
	defaultAnswer      = 60 * time.Second
	defaultTries       = 8
	defaultBackoff     = 500 * time.Millisecond

	maxBackoff = 30 * time.Second // also of what a server asks for
)

// Client pulls and pushes models. It may do so for many callers at once.
type Client struct {
	config Config

	mu      sync.Mutex
	schemes map[string]string // by host; how those that may be without TLS answered
}

// New makes a Client. It does nothing yet, so it cannot fail.
func New(c Config) *Client {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Transport == nil {
		c.Transport = NewTransport(nil)
	}
	if c.PlainHTTP == nil {
		c.PlainHTTP = func(string) bool { return false }
	}
	setDefault(&c.UserAgent, defaultUserAgent)
	setDefault(&c.Connections, defaultConnections)
	setDefault(&c.Chunk, defaultChunk)
	setDefault(&c.Stall, defaultStall)
	setDefault(&c.Answer, defaultAnswer)
	setDefault(&c.Tries, defaultTries)
	setDefault(&c.Backoff, defaultBackoff)
	return &Client{config: c, schemes: map[string]string{}}
}

func setDefault[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
