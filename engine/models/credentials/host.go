package credentials

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/diglot/diglot/internal/hostname"
)

// Host normalizes a URL or HOST[:PORT] to a lower-case HOST:PORT. The default
// port is the scheme's, or 443 without a scheme. The error is for users.
func Host(s string) (string, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, rest = "https", s
	}
	port, known := defaultPorts[strings.ToLower(scheme)]
	if !known {
		return "", fmt.Errorf("%q is not a server URL: it must begin with https:// or http://", s)
	}
	u, err := url.Parse("//" + rest)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("%q names no host", s)
	}
	if u.User != nil {
		return "", fmt.Errorf("a server URL must not contain a user or password")
	}
	if p := u.Port(); p != "" {
		port = p
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", fmt.Errorf("%q has no valid port", s)
	}
	name := strings.TrimRight(u.Hostname(), ".")
	if strings.ContainsFunc(name, func(r rune) bool { return r > 0x7f }) {
		// Go's lower case differs from DNS's: it would make İ an i.
		return "", fmt.Errorf("the host of %q is not ASCII; write it in Punycode (xn--)", s)
	}
	name = strings.ToLower(name)
	if !hostname.Is(name) {
		return "", fmt.Errorf("%q names no host", s)
	}
	return net.JoinHostPort(name, strconv.FormatUint(n, 10)), nil
}

var defaultPorts = map[string]string{"https": "443", "http": "80"}

// Short is a host without the default port of https, for users.
func Short(host string) string {
	if name, port, err := net.SplitHostPort(host); err == nil && port == "443" && !strings.Contains(name, ":") {
		return name
	}
	return host
}
