package fetch

import "net/netip"

// special lists address ranges that are not public, from IANA's special-purpose registries.
var special = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // carrier-grade NAT; clouds put services there
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local; metadata services of clouds
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, and broadcast
	"2001::/23",       // protocol assignments, Teredo with an IPv4 address inside
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4, with an IPv4 address inside
	"3fff::/20",       // documentation
)

// global is the allocated unicast space of IPv6.
var global = netip.MustParsePrefix("2000::/3")

// translated is NAT64: the last four bytes are the IPv4 address.
var translated = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(list ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, p := range list {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

// isPublic reports whether an address is public.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	if a.Zone() != "" {
		return false
	}
	if translated.Contains(a) {
		bytes := a.As16()
		a = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	if a.Is6() && !global.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
