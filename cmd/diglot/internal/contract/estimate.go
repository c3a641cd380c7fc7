package contract

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/diglot/diglot/engine/mock"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// estimate runs the scenarios against a mock server in this process, and tells what they
// would cost elsewhere.
func estimate(ctx context.Context, w io.Writer, target *conformance.Target, chosen []conformance.Scenario, profile openapi.Profile) error {
	base, stop, err := serveMock(profile)
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
words. A real server counts other tokens, and its model may write up to the limits of the
requests. Nothing was sent anywhere.
`, m.requests, m.answered, m.in+m.out, m.in, m.out)
	return err
}

// serveMock serves the mock engine on a local port.
func serveMock(profile openapi.Profile) (base string, stop func(), err error) {
	silent := slog.New(slog.DiscardHandler)
	e, err := mock.New(mock.Config{Log: silent, Clock: time.Now})
	if err != nil {
		return "", nil, err
	}
	handler, err := handlers.New(handlers.Config{Engine: e, Log: silent, Profile: profile})
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(silent.Handler(), 0)}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return "http://" + listener.Addr().String(), func() { _, _ = server.Close(), e.Close() }, nil
}

// meter counts requests and tokens.
type meter struct {
	next http.RoundTripper

	mu                          sync.Mutex
	requests, answered, in, out int
}

// RoundTrip implements [http.RoundTripper].
func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	m.requests++
	m.mu.Unlock()
	response, err := m.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK && r.Method == http.MethodPost {
		response.Body = &metered{ReadCloser: response.Body, meter: m, sent: r.ContentLength}
	}
	return response, err
}

// metered is a reply whose counts of tokens are added when it is closed.
type metered struct {
	io.ReadCloser
	meter *meter
	sent  int64
	text  bytes.Buffer
}

func (b *metered) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.text.Write(p[:n])
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
		in = int(b.sent / 4) // a stream that does not tell
	}
	out, _ := most(generated, b.text.Bytes())
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
