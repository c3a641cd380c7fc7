package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/diglot/diglot/openapi"
)

// Models names the models that scenarios use. Scenarios without their model are skipped.
type Models struct {
	Text      string // for chat, responses, messages and completions
	Embedding string
	Image     string // draws
	Vision    string // sees pictures
}

// Target is a server under test.
type Target struct {
	BaseURL string // with or without /v1
	Models  Models
	Key     string      // empty: none; sent as both styles send theirs
	Header  http.Header // added to every request
	Client  *http.Client
	Timeout time.Duration // of one request; 0: a minute

	// Documents are what the server claims to follow, narrowed for its profile.
	Documents openapi.Documents

	// Marks holds the server to the support marks as well, as only the server can be held
	// whose marks they are: what is marked as refused must be refused, what is ignored must
	// be reported. Without it, a marked value may be accepted or refused, and what the vendors
	// leave open is not judged: other fields in replies, kinds of errors, sizes of lists.
	Marks bool

	mu        sync.Mutex
	seen      map[operation]*record
	kept      int         // bytes of bodies in records and failures
	baselines sync.Map    // how bodies without an odd value are answered
	asked     sync.Map    // what scenarios ask once
	lost      func(error) // called when the server cannot be reached; or nil
}

// Bytes of a reply that are read. Only those of images are as long.
const (
	maxReply    = 4 << 20
	maxPictures = 64 << 20
)

func mostOf(path string) int {
	if strings.HasPrefix(path, "/v1/images/") {
		return maxPictures
	}
	return maxReply
}

// send sends a request and reads the whole reply. A server that asks to come back later is
// waited for. The error is one of the transport: a server that cannot be reached, or no
// reply in time.
func (t *Target) send(ctx context.Context, r Request) (*Exchange, error) {
	for try := 0; ; try++ {
		x, err := t.once(ctx, r)
		delay, later := x.later(try)
		if err != nil || !later || !sleep(ctx, delay) {
			if err == nil {
				t.observe(ctx, x)
			}
			return x, err
		}
	}
}

// Send sends a request that belongs to no scenario: its reply is not judged, and it may
// take as long as ctx says.
func (t *Target) Send(ctx context.Context, r Request) (*Exchange, error) { return t.exchange(ctx, r) }

// once sends a request once, with the time for one request.
func (t *Target) once(ctx context.Context, r Request) (*Exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout())
	defer cancel()
	return t.exchange(ctx, r)
}

func (t *Target) exchange(ctx context.Context, r Request) (*Exchange, error) {
	begin := time.Now()
	response, x, err := t.open(ctx, r)
	if err != nil {
		return x, err
	}
	defer response.Body.Close()
	most := mostOf(x.Path)
	x.Body, x.Err = io.ReadAll(io.LimitReader(response.Body, int64(most)+1))
	if len(x.Body) > most {
		x.Body, x.Err = x.Body[:most], fmt.Errorf("it is longer than %d MiB, and not read further", most>>20)
	}
	x.Duration = time.Since(begin)
	return x, nil
}

func (t *Target) timeout() time.Duration {
	if t.Timeout == 0 {
		return time.Minute
	}
	return t.Timeout
}

// open sends a request and reads the header of the reply.
func (t *Target) open(ctx context.Context, r Request) (*http.Response, *Exchange, error) {
	body, err := r.encode()
	if err != nil {
		return nil, nil, fmt.Errorf("request body: %w", err)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(t.BaseURL, "/"), "/v1")
	request, err := http.NewRequestWithContext(ctx, r.method(), base+r.Path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	// Sent again, without the header, if the server closes an idle connection at that moment.
	request.Header["Idempotency-Key"] = []string{}
	t.address(request, body)
	for name, values := range r.Header {
		if request.Header[http.CanonicalHeaderKey(name)] = values; values == nil {
			request.Header.Del(name)
		}
	}
	x := &Exchange{
		Method: request.Method, URL: request.URL.Redacted(), Path: request.URL.Path,
		Sent: t.redacted(request.Header), Request: body,
	}
	client := t.Client
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		if ctx.Err() == nil {
			t.unreachable(err)
		}
		return nil, x, err
	}
	x.Status, x.Header = response.StatusCode, response.Header
	return response, x, nil
}

// address adds what every client of the style sends.
func (t *Target) address(r *http.Request, body []byte) {
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if document, ok := t.Documents.ForPath(r.URL.Path); ok && document == t.Documents.Anthropic {
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	if t.Key != "" {
		r.Header.Set("Authorization", "Bearer "+t.Key)
		r.Header.Set("X-Api-Key", t.Key)
	}
	maps.Copy(r.Header, t.Header)
}

// redacted is a header without the values that the user of the kit added, which may be
// secret: a shell variable stands for each.
func (t *Target) redacted(h http.Header) http.Header {
	shown := h.Clone()
	for name := range t.Header {
		if slices.Equal(h[name], t.Header[name]) {
			shown[name] = []string{"$" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
		}
	}
	return shown
}
