package recorder

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/diglot/diglot/internal/budget"
	"github.com/diglot/diglot/internal/cassette"
)

// exchange is one request on its way and what is known of its reply. One goroutine
// at a time works on it.
type exchange struct {
	where   Case
	bodies  *budget.Share // memory of both bodies
	request cassette.Request
	reply   *tap   // nil: none yet
	left    func() // to call when the client has left
	end     func() // records the exchange, once
	problem error  // why it cannot be recorded
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange {
	e, _ := r.Context().Value(exchangeKey{}).(*exchange)
	return e
}

var (
	errClientLeft = errors.New("the client left before the reply was complete")
	errUpgraded   = errors.New("the connection was upgraded to another protocol")
	errTooLarge   = errors.New("a body exceeds the limit of one, or of all that are recorded")
)

// takeRequest reads the body of a request before it is forwarded: a server may
// answer without reading it. The rest of a large one is only forwarded.
func (e *exchange) takeRequest(r *http.Request, limit int64) {
	e.request = cassette.Request{Method: r.Method, URL: r.URL.RequestURI(), Headers: r.Header.Clone()}
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	c := capture{bodies: e.bodies, left: limit}
	_, err := io.Copy(&c, r.Body)
	e.request.Body = string(c.text)
	if err == nil {
		// The server closes the body when the reply begins, and net/http breaks off
		// a reply while it cannot read the body of its request.
		r.Body = io.NopCloser(strings.NewReader(e.request.Body))
		return
	}
	e.problem = err
	rest := io.MultiReader(strings.NewReader(e.request.Body), bytes.NewReader(c.refused), r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{rest, r.Body}
}

// takeReply begins to record a reply.
func takeReply(limit int64) func(*http.Response) error {
	return func(r *http.Response) error {
		e := exchangeOf(r.Request)
		switch {
		case e == nil:
		case r.StatusCode == http.StatusSwitchingProtocols:
			e.problem = errUpgraded
		default:
			e.reply = &tap{ReadCloser: r.Body, left: e.left, end: e.end, length: r.ContentLength, code: r.StatusCode, headers: r.Header.Clone(),
				capture: capture{bodies: e.bodies, left: limit}}
			r.Body = e.reply
		}
		return nil
	}
}

// tap is a reply that is kept while it is read.
type tap struct {
	io.ReadCloser
	capture
	code    int
	headers http.Header
	length  int64 // -1: unknown
	read    int64
	left    func()
	end     func()
	ended   error // io.EOF: it is complete; nil: it was not read to its end
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	_, _ = t.Write(p[:n]) // it remembers what it could not keep
	t.read += int64(n)
	t.ended = err
	if err == nil && t.read == t.length {
		t.ended = io.EOF
	}
	if t.ended == io.EOF {
		t.end() // before the client can know, and sends its next request
	}
	return n, err
}

// Close reads the rest of a reply that its client did not wait for.
func (t *tap) Close() error {
	if t.ended == nil {
		t.left()
		_, _ = io.Copy(io.Discard, readerOf(t.Read)) // t remembers how it ended
	}
	return t.ReadCloser.Close()
}

type readerOf func([]byte) (int, error)

func (r readerOf) Read(p []byte) (int, error) { return r(p) }

// capture keeps what is written to it, within its limits.
type capture struct {
	bodies  *budget.Share
	left    int64
	text    []byte
	refused []byte // what did not fit first
}

func (c *capture) Write(p []byte) (int, error) {
	if c.refused != nil || int64(len(p)) > c.left || !c.bodies.Reserve(int64(len(p))) {
		c.refused = bytes.Clone(p)
		return 0, errTooLarge
	}
	c.left -= int64(len(p))
	c.text = append(c.text, p...)
	return len(p), nil
}

// whole returns why an exchange that has ended cannot be recorded.
func (e *exchange) whole(ctx context.Context) error {
	switch {
	case ctx.Err() != nil && (e.reply == nil || e.reply.ended != io.EOF):
		return errClientLeft
	case e.problem != nil:
		return e.problem
	case e.reply == nil:
		return errors.New("there is no reply")
	case e.reply.ended == nil:
		return fmt.Errorf("%w: it read %d bytes", errClientLeft, len(e.reply.text))
	case e.reply.refused != nil:
		return errTooLarge
	}
	return cassette.CheckStatus(e.reply.code)
}

// interaction returns the exchange with plain bodies.
func (e *exchange) interaction(limit int64) (cassette.Interaction, error) {
	i := cassette.Interaction{Request: e.request, Response: cassette.Response{
		Code: e.reply.code, Headers: e.reply.headers, Aborted: e.reply.ended != io.EOF}}
	var err error
	if i.Request.Body, err = plain(e.request.Headers, []byte(e.request.Body), limit); err != nil {
		return i, err
	}
	i.Response.Body, err = plain(e.reply.headers, e.reply.text, limit)
	return i, err
}

// plain unpacks a body that is compressed although nobody asked for it.
func plain(headers http.Header, body []byte, limit int64) (string, error) {
	switch encoding := headers.Get("Content-Encoding"); encoding {
	case "", "identity":
		return string(body), nil
	case "gzip":
		packed, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(io.LimitReader(packed, limit+1))
		if err == nil && int64(len(text)) > limit {
			err = errTooLarge
		}
		return string(text), err
	default:
		return "", fmt.Errorf("a body has the unknown Content-Encoding %q", encoding)
	}
}
