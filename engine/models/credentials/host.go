package credentials

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/diglot/diglot/internal/hostname"
)

// Host is the spelling under which the file knows a server: a lower-case name
// or address, and a port. Of a URL it takes the host, and the port of the
// scheme where there is none; a bare host without a port means 443, that of
// https. The error is a sentence for the user.
func Host(s string) (string, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, rest = "https", s
	}
	port, known := defaultPorts[strings.ToLower(scheme)]
	if !known {
		return "", fmt.Errorf("%q is no address of a server: it must begin with https:// or http://", s)
	}
	u, err := url.Parse("//" + rest)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("%q names no host", s)
	}
	if u.User != nil {
		return "", fmt.Errorf("a user or password has no place in the address of a server")
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
		// Lower case here and in the names of the net are not the same: İ would be i here.
		return "", fmt.Errorf("the host of %q has letters beyond ASCII; write it in the form that begins with xn--", s)
	}
	name = strings.ToLower(name)
	if !hostname.Is(name) {
		return "", fmt.Errorf("%q names no host", s)
	}
	return net.JoinHostPort(name, strconv.FormatUint(n, 10)), nil
}

var defaultPorts = map[string]string{"https": "443", "http": "80"}

// Short is a host without the port that https has anyway, as the user types
// and reads it.
func Short(host string) string {
	if name, port, err := net.SplitHostPort(host); err == nil && port == "443" && !strings.Contains(name, ":") {
		return name
	}
	return host
}
