package contract

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/diglot/diglot/cmd/diglot/internal/replay"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// estimate runs the scenarios against a mock server in this process, and tells what they
// would cost elsewhere.
func estimate(ctx context.Context, w io.Writer, target *conformance.Target, chosen []conformance.Scenario, profile openapi.Profile) error {
	base, stop, err := serveMade(profile)
	if err != nil {
		return err
	}
	defer stop()
	m := &meter{next: target.Client.Transport}
	target.BaseURL, target.Key, target.Header, target.Client.Transport = base, "", nil, m
	conformance.Run(ctx, target, chosen, conformance.Options{Parallel: 4})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, err = fmt.Fprintf(w, `about %d requests, of which %d are answered by a model, and %d tokens (%d in, %d out)
This is an estimate: the scenarios ran against a mock server in this program, which counts
words. A real server counts other tokens, its model may write up to the limits of the
requests, and it may answer what this program refuses: such requests count at their size,
and streams that are not read to their end at their max_tokens. Nothing was sent anywhere.
`, m.requests, m.answered, m.in+m.out, m.in, m.out)
	return err
}

// serveMade serves replies that are made from their requests on a local port.
func serveMade(profile openapi.Profile) (base string, stop func(), err error) {
	silent := slog.New(slog.DiscardHandler)
	handler, err := replay.New(replay.Config{Handlers: handlers.Config{Log: silent, Profile: profile}})
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := handlers.NewServer(handler, silent)
	go func() { _ = server.Serve(listener) }() // ends with Close
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// meter counts requests and tokens.
type meter struct {
	next http.RoundTripper

	mu                          sync.Mutex
	requests, answered, in, out int
}

// RoundTrip implements [http.RoundTripper].
func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	limit := limitOf(r)
	response, err := m.next.RoundTrip(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	switch {
	case err != nil || r.Method != http.MethodPost:
	case response.StatusCode == http.StatusOK:
		stream := strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")
		response.Body = &metered{ReadCloser: response.Body, meter: m, sent: r.ContentLength, limit: limit, stream: stream}
	case response.StatusCode == http.StatusBadRequest:
		m.in += inBytes(r.ContentLength) // another server may answer it
	}
	return response, err
}

// maxRequest is the largest request whose limits are read. Larger ones are refused.
const maxRequest = 1 << 20

// limitOf is how many tokens a request allows for a reply; 0: it does not say.
func limitOf(r *http.Request) int {
	if r.GetBody == nil || r.ContentLength > maxRequest {
		return 0
	}
	body, err := r.GetBody()
	if err != nil {
		return 0
	}
	defer body.Close()
	var limits struct {
		Messages  int `json:"max_tokens"`
		Chat      int `json:"max_completion_tokens"`
		Responses int `json:"max_output_tokens"`
	}
	if json.UnmarshalRead(body, &limits, jsontext.AllowDuplicateNames(true)) != nil {
		return 0
	}
	return max(limits.Messages, limits.Chat, limits.Responses, 0)
}

// inBytes is about how many tokens a text of this size has.
func inBytes(n int64) int { return int(max(n, 0) / 4) }

// metered is a reply whose counts of tokens are added when it is closed.
type metered struct {
	io.ReadCloser
	meter  *meter
	sent   int64
	limit  int // tokens; 0: none
	stream bool
	ended  bool
	text   bytes.Buffer
}

func (b *metered) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.text.Write(p[:n])
	b.ended = b.ended || err == io.EOF
	return n, err
}

var (
	counted   = regexp.MustCompile(`"(?:prompt|input)_tokens":(\d+)`)
	generated = regexp.MustCompile(`"(?:completion|output)_tokens":(\d+)`)
)

func (b *metered) Close() error {
	m := b.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answered++
	in, ok := most(counted, b.text.Bytes())
	if !ok {
		in = inBytes(b.sent) // a stream that does not tell
	}
	out, ok := most(generated, b.text.Bytes())
	if b.stream && (!ok || !b.ended) {
		out = max(out, b.limit)
	}
	m.in, m.out = m.in+in, m.out+out
	return b.ReadCloser.Close()
}

// most is the largest count in a reply: a stream may tell it several times.
func most(pattern *regexp.Regexp, text []byte) (n int, ok bool) {
	for _, found := range pattern.FindAllSubmatch(text, -1) {
		count, err := strconv.Atoi(string(found[1]))
		if err == nil {
			n, ok = max(n, count), true
		}
	}
	return n, ok
}
