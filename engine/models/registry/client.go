package registry

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Config configures a [Client]. All fields have defaults.
type Config struct {
	Log *slog.Logger // nil: nothing is logged

	// Transport sends all requests, including those for tokens. The default is
	// [NewTransport] without a proxy.
	Transport http.RoundTripper

	// DockerConfig is the path of Docker's config.json, with logins and
	// credential helpers. It need not exist, and is read for every pull and push.
	DockerConfig string

	// PlainHTTP reports whether a host, with its port if any, may be used without
	// TLS. Loopback hosts always may. Only a flag of the user may decide this.
	PlainHTTP func(host string) bool

	UserAgent   string        // default "diglot"
	Connections int           // concurrent ones of a pull; 0: 8
	Chunk       int64         // bytes of a range request; 0: 64 MiB
	Stall       time.Duration // after which a silent connection is closed; 0: 30 s
	Answer      time.Duration // timeout for a manifest; 0: 60 s
	Tries       int           // of a request for a blob; 0: 8
	Backoff     time.Duration // before the second try, doubled for each further one; 0: 500 ms
}

const (
	defaultUserAgent   = "diglot"
	defaultConnections = 8
	defaultChunk       = 64 << 20
	defaultStall       = 30 * time.Second
	defaultAnswer      = 60 * time.Second
	defaultTries       = 8
	defaultBackoff     = 500 * time.Millisecond

	maxBackoff = 30 * time.Second // also for Retry-After
)

// Client pulls and pushes models. It is safe for concurrent use.
type Client struct {
	config Config

	mu      sync.Mutex
	schemes map[string]string // probed ones, by host
}

// New makes a Client. It sends no requests.
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
