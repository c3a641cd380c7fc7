package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"

	"github.com/diglot/diglot/internal/plainjson"
)

// BaseURL is what the paths of the public API follow in requests of
// [Client.HTTP]. Its host is one that every server answers to.
const BaseURL = "http://localhost"

// ErrNotRunning is the error of a [Client] whose socket nobody listens at.
var ErrNotRunning = errors.New("no server is running")

// maxReply is the most bytes of a reply to a command.
const maxReply = 16 << 20

// Client speaks to the server of one socket.
type Client struct {
	path string
	http *http.Client
}

// Dial makes a client of the socket at path. It connects when it is used, and
// where no server runs, errors are [ErrNotRunning].
func Dial(path string) *Client {
	c := &Client{path: path}
	c.http = &http.Client{Transport: &http.Transport{DialContext: c.dial, DisableCompression: true}}
	return c
}

// HTTP is a client whose requests all go to the socket, whatever host their
// URLs name; see [BaseURL].
func (c *Client) HTTP() *http.Client { return c.http }

// Loaded lists the models in memory, by name.
func (c *Client) Loaded(ctx context.Context) ([]Model, error) {
	var reply loadedReply
	err := c.call(ctx, http.MethodGet, pathLoaded, nil, &reply)
	return reply.Models, err
}

// Load has the server load a model. It returns once the model is ready.
func (c *Client) Load(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodPost, pathLoad, modelRequest{name}, nil)
}

// Stop has the server let go of a model, once the requests that use it have
// ended. It does not wait for them.
func (c *Client) Stop(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodPost, pathStop, modelRequest{name}, nil)
}

// Version is that of the server.
func (c *Client) Version(ctx context.Context) (string, error) {
	reply, err := c.about(ctx)
	return reply.Version, err
}

// Models is the folder of the model store that the server serves. Empty: it
// serves none.
func (c *Client) Models(ctx context.Context) (string, error) {
	reply, err := c.about(ctx)
	return reply.Models, err
}

func (c *Client) about(ctx context.Context) (versionReply, error) {
	var reply versionReply
	err := c.call(ctx, http.MethodGet, pathVersion, nil, &reply)
	return reply, err
}

// Close lets go of the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func (c *Client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.path)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("the socket %s belongs to another user", c.path)
	}
	return nil, fmt.Errorf("%w (nobody listens at %s); start one with: diglot serve", ErrNotRunning, c.path)
}

// call sends a request and reads the reply into out, unless that is nil.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		encoded, err := plainjson.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, BaseURL+path, body)
	if err != nil {
		return err
	}
	reply, err := c.http.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxReply))
	if err != nil {
		return fmt.Errorf("the server's reply was cut off: %w", err)
	}
	if reply.StatusCode != http.StatusOK {
		return failure(reply.Status, text)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("the server's reply makes no sense: %w", err)
	}
	return nil
}

// withoutURL leaves out of an error what means nothing to the user, who knows
// of no URL.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// failure is the error that a reply holds.
func failure(status string, text []byte) error {
	var reply errorReply
	if err := json.Unmarshal(text, &reply); err != nil || reply.Error == nil {
		return fmt.Errorf("the server answers %s", status)
	}
	return reply.Error
}
