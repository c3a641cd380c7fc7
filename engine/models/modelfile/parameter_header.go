package modelfile

import (
	"fmt"
	"slices"
	"strings"
)

// noHeader is the value for sending no header.
const noHeader = "-"

const maxHeader = 64 // bytes

// takenHeaders have a meaning for servers or proxies, so a Modelfile must not
// choose them: some carry keys, others frame the message.
var takenHeaders = []string{
	"authorization", "connection", "cookie", "cookie2", "date", "expect", "forwarded", "from", "host", "keep-alive", "max-forwards", "origin",
	"pragma", "range", "cache-control", "referer", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "via", "api-key", "x-api-key",
}

// takenBeginnings are prefixes of more such headers.
var takenBeginnings = []string{"accept", "access-control-", "content-", "if-", "proxy-", "sec-", "x-forwarded-"}

// checkHeader accepts names of custom headers.
func checkHeader(name string) error {
	if name == noHeader {
		return nil
	}
	lower := strings.ToLower(name)
	switch {
	case name == "" || strings.ContainsFunc(name, notToken):
		return fmt.Errorf("%s is not a header name such as X-Session-ID, or %s for none", shown(name), noHeader)
	case len(name) > maxHeader:
		return fmt.Errorf("the name has %d bytes; the limit is %d", len(name), maxHeader)
	case slices.Contains(takenHeaders, lower),
		slices.ContainsFunc(takenBeginnings, func(b string) bool { return strings.HasPrefix(lower, b) }):
		return fmt.Errorf("the header %s is reserved; use one such as X-Session-ID", name)
	}
	return nil
}

// notToken reports whether r is not allowed in a header name (RFC 9110, 5.6.2).
func notToken(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
