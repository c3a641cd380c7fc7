package registry

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// NewTransport makes a transport for a [Config]. proxy may be
// [http.ProxyFromEnvironment], or nil for none.
//
// It uses only HTTP/1.1: with HTTP/2 all ranges of a blob would share one
// connection, and one lost packet would stall them all.
func NewTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    15 * time.Second,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    2 * defaultConnections,
		MaxResponseHeaderBytes: 1 << 20,
		Protocols:              &protocols,
		OnProxyConnectResponse: checkTunnel,
	}
}

// proxyError is a proxy's refusal to connect to a host.
type proxyError struct {
	proxy  string // its host
	status string
}

func (e *proxyError) Error() string {
	return fmt.Sprintf("the proxy %s answers %s", e.proxy, e.status)
}

// checkTunnel reports which proxy refused. In net/http's own error, a proxy's
// 407 looks like the registry's.
func checkTunnel(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{proxy.Host, resp.Status}
}
