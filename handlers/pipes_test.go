package handlers

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/handlers/handlerstest"
)

// Requests that each style takes.
var pipeStyles = []struct {
	name, path, body string
	overloaded       int
}{
	{"openai", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"u"}]}`, 503},
	{"anthropic", "/v1/messages", `{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"u"}]}`, 529},
}

// pipes is a listener without network, whose connections can be in a synctest bubble.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// pipe is a connection from an address.
type pipe struct {
	net.Conn
	from netip.Addr
}

func (p pipe) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.AddrPortFrom(p.from, 1)) }

// pipeServer serves a handler over pipes.
type pipeServer struct {
	*http.Server
	pipes *pipes
}

// servePipes serves with c in a test's bubble until it ends, with a default engine.
func servePipes(t *testing.T, c Config, limits ConnectionLimits) *pipeServer {
	t.Helper()
	if c.Engine == nil {
		c.Engine = &handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")}
	}
	c.Log = slog.New(slog.DiscardHandler)
	h, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return servePiped(t, h, limits)
}

// servePiped is servePipes for any handler.
func servePiped(t *testing.T, h http.Handler, limits ConnectionLimits) *pipeServer {
	t.Helper()
	s := &pipeServer{NewServer(h, slog.New(slog.DiscardHandler)), &pipes{make(chan net.Conn), make(chan struct{})}}
	l := NewConnections(limits).Listen(s.pipes)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		time.Sleep(time.Minute) // of the bubble: the ends of all connections
	})
	return s
}

// dial connects from an address.
func (s *pipeServer) dial(t *testing.T, from string) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	s.pipes.accepted <- pipe{server, netip.MustParseAddr(from)}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// many is more connections than a test has.
var many = ConnectionLimits{All: 1000, PerAddress: 1000}

const here = "127.0.0.1"

// head is the beginning of a request with a body of n bytes.
func head(path string, n int, header ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n",
		path, n, strings.Join(append(header, ""), "\r\n"))
}

// send writes without waiting for the reader.
func send(c net.Conn, text string) { go func() { _, _ = io.WriteString(c, text) }() }

// endlessly is longer than anything takes in a bubble: a test whose server hangs fails.
const endlessly = 24 * time.Hour

// await waits for an end, for a limited time of the bubble.
func await(t *testing.T, ended <-chan struct{}, limit time.Duration) {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(limit):
		t.Fatalf("it goes on after %v", limit)
	}
}

// receive reads a reply and its body. Nil: the connection was closed, or nothing came.
func receive(t *testing.T, c net.Conn) (*http.Response, string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(endlessly))
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	reply, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, ""
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Errorf("the body of the reply: %v", err)
	}
	return reply, string(body)
}

// isClosed reports whether the server closes the connection without a word.
func isClosed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(endlessly))
	_, err := c.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}
