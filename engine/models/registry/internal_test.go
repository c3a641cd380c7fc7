package registry

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/diglot/diglot/engine/models/store"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{``, ""},
		{`{}`, ""},
		{`plain  text.`, "plain text"},
		{"a\x1b[2Jb\r\nc\x00d", "a [2Jb c d"},
		{`{"error":"no"}`, "no"},
		{`{"error":{"code":1}}`, ""},
		{`{"errors":[{"code":"NAME_UNKNOWN","message":"no such name"}]}`, "name unknown: no such name"},
		{`{"errors":[{"code":"DENIED","message":"a"},{"code":"X","message":"b"}]}`, "denied: a; x: b"},
		{`{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}`, "manifest unknown"},
		{`{"errors":[{"code":"UNKNOWN"},{"message":"b"}]}`, "unknown; b"},
		{`<html><body>502</body></html>`, ""},
		{` <?xml version="1.0"?>`, ""},
		{"\xff\xfeword", "word"},
		{"\u202eright to left", "right to left"},
	} {
		if got := words([]byte(tt.body)); got != tt.want {
			t.Errorf("%q says %q, want %q", tt.body, got, tt.want)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add([]byte(`{"errors":[{"code":"A_B","message":"c"}]}`))
	f.Add([]byte(`{"error":"\u001b[31m"}`))
	f.Add([]byte(strings.Repeat("é", maxSaid)))
	f.Fuzz(func(t *testing.T, body []byte) {
		said := words(body)
		if len(said) > maxSaid+len("…") || !utf8.ValidString(said) || strings.ContainsFunc(said, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q says %q", body, said)
		}
	})
}

func TestCheckRedirect(t *testing.T) {
	for _, tt := range []struct {
		name    string
		hops    []string // the first is what was asked for, the last where to go
		refused bool
		keeps   bool // the credentials
	}{
		{"the same host", []string{"https://a/x", "https://a/y"}, false, true},
		{"another host", []string{"https://a/x", "https://b/x"}, false, false},
		{"a host below", []string{"https://a.example/x", "https://cdn.a.example/x"}, false, false},
		{"another port", []string{"https://a/x", "https://a:444/x"}, false, false},
		{"there and back", []string{"https://a/x", "https://b/x", "https://a/y"}, false, false},
		{"without TLS", []string{"https://a/x", "http://a/x"}, true, false},
		{"without TLS later", []string{"https://a/x", "https://b/x", "http://b/x"}, true, false},
		{"into TLS", []string{"http://a/x", "https://a/x"}, false, false},
		{"eleven", strings.Fields(strings.Repeat("https://a/x ", 11)), true, false},
	} {
		var all []*http.Request
		for _, hop := range tt.hops {
			u, err := url.Parse(hop)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, &http.Request{URL: u, Header: http.Header{"Authorization": {"secret"}}})
		}
		next := all[len(all)-1]
		err := checkRedirect(next, all[:len(all)-1])
		if (err != nil) != tt.refused {
			t.Errorf("%s: the error is %v", tt.name, err)
		}
		if err == nil && (next.Header.Get("Authorization") != "") != tt.keeps {
			t.Errorf("%s: the credentials are %q", tt.name, next.Header.Get("Authorization"))
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"":                              0,
		"7":                             7 * time.Second,
		"-1":                            0,
		"99999999":                      time.Hour,
		"Fri, 31 Dec 1999 23:59:59 GMT": 0,
	} {
		e := newStatusError(&http.Response{
			StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {text}}, Body: http.NoBody,
			Request: &http.Request{URL: &url.URL{Host: "a"}},
		})
		if e.after != want {
			t.Errorf("%q: %v, want %v", text, e.after, want)
		}
	}
}

func TestPosition(t *testing.T) {
	for _, tt := range []struct {
		status int
		text   string // the header Content-Range
		offset int64
		want   int64 // -1: refused
	}{
		{http.StatusOK, "", 5, 0},
		{http.StatusOK, "bytes 5-9/10", 5, 0}, // a header without its status means nothing
		{http.StatusPartialContent, "bytes 5-9/10", 5, 5},
		{http.StatusPartialContent, "bytes 5-9/*", 5, 5},
		{http.StatusPartialContent, "bytes 4-9/10", 5, -1},
		{http.StatusPartialContent, "bytes 5-9/11", 5, -1},
		{http.StatusPartialContent, "bytes */10", 5, -1},
		{http.StatusPartialContent, "items 5-9/10", 5, -1},
		{http.StatusPartialContent, "bytes 99999999999999999999-9/10", 5, -1},
		{http.StatusPartialContent, "", 5, -1},
	} {
		got, err := position(&http.Response{StatusCode: tt.status, ContentLength: -1, Header: http.Header{"Content-Range": {tt.text}}},
			store.Layer{Size: 10}, tt.offset)
		if err != nil {
			got = -1
		}
		if got != tt.want {
			t.Errorf("%d %q at %d: %d, want %d (%v)", tt.status, tt.text, tt.offset, got, tt.want, err)
		}
	}
}

func TestPauseBefore(t *testing.T) {
	for _, tt := range []struct {
		tried   int
		backoff time.Duration
		want    time.Duration
	}{
		{1, time.Second, time.Second},
		{2, time.Second, 2 * time.Second},
		{4, time.Second, 8 * time.Second},
		{6, time.Second, maxBackoff},
		{35, time.Second, maxBackoff},
		{64, time.Second, maxBackoff},
		{1000, time.Millisecond, maxBackoff},
		{1, time.Hour, maxBackoff},
	} {
		if got := pauseBefore(tt.tried, tt.backoff); got != tt.want {
			t.Errorf("after %d tries with %v: %v, want %v", tt.tried, tt.backoff, got, tt.want)
		}
	}
}
