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

// BaseURL is the base URL for requests of [Client.HTTP]. Every server accepts its
// host.
const BaseURL = "http://localhost"

// ErrNotRunning is the error of a [Client] if no server listens on its socket.
var ErrNotRunning = errors.New("no server is running")

// maxReply bounds a reply, in bytes.
const maxReply = 16 << 20

// Client sends commands to the server of one socket.
type Client struct {
	path string
	http *http.Client
}

// Dial makes a client for the socket at path. It connects with the first request,
// which fails with [ErrNotRunning] if no server runs.
func Dial(path string) *Client {
	c := &Client{path: path}
	c.http = &http.Client{Transport: &http.Transport{DialContext: c.dial, DisableCompression: true}}
	return c
}

// HTTP is a client that sends all requests to the socket; see [BaseURL].
func (c *Client) HTTP() *http.Client { return c.http }

// Loaded lists the loaded models, by name.
func (c *Client) Loaded(ctx context.Context) ([]Model, error) {
	var reply loadedReply
	err := c.call(ctx, http.MethodGet, pathLoaded, nil, &reply)
	return reply.Models, err
}

// Load loads a model, and returns when it is ready.
func (c *Client) Load(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodPost, pathLoad, modelRequest{name}, nil)
}

// Stop unloads a model when its requests have finished. It does not wait for them.
func (c *Client) Stop(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodPost, pathStop, modelRequest{name}, nil)
}

// Draws reports whether a model is known to draw images.
func (c *Client) Draws(ctx context.Context, name string) (bool, error) {
	var reply drawsReply
	err := c.call(ctx, http.MethodPost, pathDraws, modelRequest{name}, &reply)
	return reply.Draws, err
}

// Version is the version of the server.
func (c *Client) Version(ctx context.Context) (string, error) {
	reply, err := c.about(ctx)
	return reply.Version, err
}

// Models is the path of the server's model store; empty: it has none.
func (c *Client) Models(ctx context.Context) (string, error) {
	reply, err := c.about(ctx)
	return reply.Models, err
}

func (c *Client) about(ctx context.Context) (versionReply, error) {
	var reply versionReply
	err := c.call(ctx, http.MethodGet, pathVersion, nil, &reply)
	return reply, err
}

// Close closes the connections.
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
	return nil, fmt.Errorf("%w (socket %s); start one with: diglot serve", ErrNotRunning, c.path)
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
		return fmt.Errorf("the server's reply is invalid: %w", err)
	}
	return nil
}

// withoutURL removes from an error the URL, which means nothing to the user.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// failure is the error in a reply.
func failure(status string, text []byte) error {
	var reply errorReply
	if err := json.Unmarshal(text, &reply); err != nil || reply.Error == nil {
		return fmt.Errorf("the server answers %s", status)
	}
	return reply.Error
}
