package hostname_test

import (
	"net/url"
	"testing"

	"github.com/diglot/diglot/internal/hostname"
)

func TestIs(t *testing.T) {
	for s, want := range map[string]bool{
		"localhost": true, "api.example.com": true, "API.Example.com.": true, "my_host-1": true, "xn--mnchen-3ya.example": true,
		"192.0.2.1": true, "::1": true, "2001:db8::1": true, "::ffff:192.0.2.1": true,
		"": false, ".": false, "a..b": false, ".a": false, "a..": false, "a b": false, "a\tb": false, "a\nb": false, "a\x00": false,
		"münchen.example": false, "a\u202eb": false, "u@h": false, "h:1": false, "[::1]": false, "h/p": false, "*": false, "a%20b": false,
		"$(id)": false, "a;id": false, "a&id": false, "a'b": false, "`id`": false, "fe80::1%$(id)": false, "fe80::1%eth0": false, "::1::": false,
	} {
		if got := hostname.Is(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestInURL(t *testing.T) {
	for s, want := range map[string]bool{
		"http://h": true, "http://h:": true, "http://h:1": true, "http://[::1]:65535/v1": true,
		"http://h:0": false, "http://h:65536": false, "http://:1": false, "http://a;b:1": false, "http://[fe80::1%25a]": false,
	} {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := hostname.InURL(u); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost":              true,
		"LOCALHOST:5000":         true,
		"registry.localhost":     true,
		"127.0.0.1":              true,
		"127.8.9.10:80":          true,
		"[::1]:5000":             true,
		"[::1]":                  true,
		"::1":                    true,
		"localhost.":             true,
		"a.localhost.:80":        true,
		"[::ffff:127.0.0.1]:80":  true,
		"[::]:80":                false,
		"0.0.0.0":                false,
		"localhost..":            false,
		"x@localhost":            false,
		"localhost:80:80":        false,
		"127.0.0.1.example":      false,
		"localhost.example:5000": false,
		"notlocalhost":           false,
		"10.0.0.1:5000":          false,
		"registry.example":       false,
		"":                       false,
	} {
		if got := hostname.Loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
