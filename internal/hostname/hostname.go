// Package hostname knows what can be the host of a URL. Hosts are written into
// sentences that people copy into a shell, and come from those who make models:
// what is in none of them is not passed on.
package hostname

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Is reports whether a URL could have s as its host: a name, or an address
// without brackets. A name is as it stands in a request: letters of other
// scripts are there in their form of ASCII. An address has no zone, which could
// be any text, and means something on one machine alone.
func Is(s string) bool {
	if address, err := netip.ParseAddr(s); err == nil {
		return address.Zone() == ""
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || strings.ContainsFunc(label, odd) {
			return false
		}
	}
	return true
}

// InURL reports whether u has such a host, and a port that there is, or none.
func InURL(u *url.URL) bool {
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	return Is(u.Hostname())
}

// WithoutPort is the host of an authority, such as host:port or [::1]:port; also
// where it has no port.
func WithoutPort(authority string) string {
	if host, _, err := net.SplitHostPort(authority); err == nil {
		return host
	}
	return strings.Trim(authority, "[]")
}

// Loopback reports whether what is sent to an authority, with or without a port,
// stays on this machine, by its name or address alone.
func Loopback(authority string) bool {
	name := strings.ToLower(strings.TrimSuffix(WithoutPort(authority), "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Unmap().IsLoopback()
}

// odd says what stands in no label of a name.
func odd(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
}
