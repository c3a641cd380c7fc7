package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/internal/budget"
)

const (
	maxRedirects = 5
	maxFetches   = 16 // concurrent, for all requests together
	retryAfter   = 5  // seconds
)

var (
	errSlow      = errors.New("it takes too long")
	errPrivate   = errors.New("its host has no public address")
	errScheme    = errors.New("only http and https are fetched")
	errRedirects = errors.New("it redirects too often")
	errLogin     = errors.New("it holds a user name or a password")
)

// fetcher downloads files over HTTP, without proxy: what a proxy connects to cannot be
// checked.
type fetcher struct {
	client *http.Client
	turns  *semaphore.Weighted // shared by all requests
}

func newFetcher(hosts []string) *fetcher {
	open := map[string]bool{}
	for _, h := range hosts {
		open[strings.ToLower(h)] = true
	}
	anywhere := &net.Dialer{Timeout: maxTime}
	public := &net.Dialer{Timeout: maxTime, Control: publicOnly}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if host, _, err := net.SplitHostPort(address); err == nil && open[strings.ToLower(host)] {
				return anywhere.DialContext(ctx, network, address)
			}
			return public.DialContext(ctx, network, address)
		},
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: 64 << 10,
		TLSHandshakeTimeout:    maxTime,
		ResponseHeaderTimeout:  maxTime,
		MaxIdleConnsPerHost:    1,
		IdleConnTimeout:        30 * time.Second,
	}
	return &fetcher{&http.Client{Transport: transport, CheckRedirect: checkRedirect}, semaphore.NewWeighted(maxFetches)}
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errRedirects
	}
	return checkURL(req.URL)
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errScheme
	case u.User != nil:
		return errLogin
	}
	return nil
}

// get downloads up to limit bytes. Errors are of type *engine.Error, for the client.
func (f *fetcher) get(ctx context.Context, address string, limit int) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, engine.Errorf(engine.CodeInvalidArgument, "The URL of the image is not valid.")
	}
	if err := checkURL(u); err != nil {
		return nil, failed(u, err)
	}
	end, err := f.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, errSlow)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, engine.Errorf(engine.CodeInvalidArgument, "The URL of the image is not valid.").Because(err)
	}
	req.Header.Set("Accept", "image/*")
	req.Header.Set("User-Agent", "diglot")
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, failed(u, explain(ctx, err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, engine.Errorf(engine.CodeInvalidArgument, "The image at %s cannot be fetched: the server answers with status %d.", name(u), resp.StatusCode)
	}
	if resp.ContentLength > int64(limit) {
		return nil, tooLarge(u, limit)
	}
	data, err := io.ReadAll(reserving{io.LimitReader(resp.Body, int64(limit)+1), exchange.From(ctx).Memory})
	switch {
	case errors.Is(err, errFull):
		return nil, crowded("The memory for images is exhausted; try again later.")
	case err != nil:
		return nil, failed(u, explain(ctx, err))
	}
	if len(data) > limit {
		return nil, tooLarge(u, limit)
	}
	return data, nil
}

// begin waits for a slot to download, and returns what releases it.
func (f *fetcher) begin(ctx context.Context) (func(), error) {
	if f.turns.Acquire(ctx, 1) == nil {
		return func() { f.turns.Release(1) }, nil
	}
	if errors.Is(context.Cause(ctx), errSlow) {
		return nil, crowded("Too many images are being fetched for other requests; try again later.")
	}
	return nil, engine.AsError(context.Cause(ctx))
}

func crowded(message string) *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "%s", message)
	err.RetryAfter = retryAfter
	return err
}

// weight is the bytes reserved per byte of an image: for the data, for a growing buffer,
// and for a copy on the way to the model.
const weight = 3

var errFull = errors.New("no memory is left for images")

// reserving is a reader that reserves memory for what it reads.
type reserving struct {
	io.Reader
	memory *budget.Share
}

func (c reserving) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if !c.memory.Reserve(weight * int64(n)) {
		return 0, errFull
	}
	return n, err
}

// explain turns err into an error for the client. A canceled request stays one.
func explain(ctx context.Context, err error) error {
	for _, known := range []error{errPrivate, errScheme, errRedirects, errLogin} {
		if errors.Is(err, known) {
			return known
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func failed(u *url.URL, err error) *engine.Error {
	for _, known := range []error{errSlow, errPrivate, errScheme, errRedirects, errLogin} {
		if errors.Is(err, known) {
			return engine.Errorf(engine.CodeInvalidArgument, "The image at %s cannot be fetched: %s.", name(u), known)
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return engine.AsError(err)
	}
	reason := "its host does not answer as it should"
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		reason = "its host cannot be reached"
	}
	return engine.Errorf(engine.CodeInvalidArgument, "The image at %s cannot be fetched: %s.", name(u), reason).Because(err)
}

func tooLarge(u *url.URL, limit int) *engine.Error {
	return engine.Errorf(engine.CodeInvalidArgument, "The image at %s is too large: it has more than %d bytes.", name(u), limit)
}

// name returns a URL without its query, where signed URLs have their secret.
func name(u *url.URL) string {
	short := *u
	short.User, short.RawQuery, short.Fragment = nil, "", ""
	return short.String()
}

// publicOnly rejects connections to other addresses. It sees the resolved address.
func publicOnly(network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(at.Addr()) {
		return errPrivate
	}
	return nil
}
