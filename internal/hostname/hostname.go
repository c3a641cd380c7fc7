// Package hostname validates hosts of URLs. Hosts come from strangers' models and
// are printed in commands that users copy into a shell, so nothing else may pass.
package hostname

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Is reports whether s is a valid host: an ASCII name (Punycode for other scripts),
// or an IP address without brackets and without a zone, which could be any text.
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

// InURL reports whether u has a valid host, and a valid port if any.
func InURL(u *url.URL) bool {
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	return Is(u.Hostname())
}

// WithoutPort is the host of an authority such as host:port, [::1]:port or host.
func WithoutPort(authority string) string {
	if host, _, err := net.SplitHostPort(authority); err == nil {
		return host
	}
	return strings.Trim(authority, "[]")
}

// Loopback reports whether the host of an authority is localhost or a loopback
// address. It does not resolve names.
func Loopback(authority string) bool {
	name := strings.ToLower(strings.TrimSuffix(WithoutPort(authority), "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Unmap().IsLoopback()
}

// odd reports whether r is not allowed in a label of a name.
func odd(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
}
