package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"

	"github.com/diglot/diglot/cassettes"
	"github.com/diglot/diglot/internal/cassette"
)

// proxy passes requests on and remembers them.
type proxy struct {
	address string
	server  *http.Server

	mu   sync.Mutex
	seen []cassette.Request
}

func startProxy(server string) (*proxy, error) {
	target, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	forward := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	p := &proxy{address: "http://" + listener.Addr().String()}
	p.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.mu.Lock()
		p.seen = append(p.seen, cassette.Request{Method: r.Method, URL: r.URL.RequestURI(), Body: string(body)})
		p.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	})}
	go p.server.Serve(listener)
	return p, nil
}

func (p *proxy) close() { p.server.Close() }

// requests returns what was sent since the last call.
func (p *proxy) requests() []cassette.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

// recordedRequests are the keys of all requests in cassettes.
func recordedRequests() (map[string]bool, error) {
	all, err := cassettes.Load()
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for _, c := range all {
		for _, i := range c.Interactions {
			keys[cassette.Key(i.Request)] = true
		}
	}
	return keys, nil
}
