package modelfile

import (
	"fmt"
	"slices"
	"strings"
)

// noHeader is what a header parameter is set to where none is to be sent.
const noHeader = "-"

const maxHeader = 64 // bytes

// takenHeaders mean something to the server, or to what is between, and are
// no definition's to say: a key would go into one, and others end a message.
var takenHeaders = []string{
	"authorization", "connection", "cookie", "cookie2", "date", "expect", "forwarded", "from", "host", "keep-alive", "max-forwards", "origin",
	"pragma", "range", "cache-control", "referer", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "via", "api-key", "x-api-key",
}

// takenBeginnings are those of more such headers.
var takenBeginnings = []string{"accept", "access-control-", "content-", "if-", "proxy-", "sec-", "x-forwarded-"}

// checkHeader takes the names that a header of one's own can have.
func checkHeader(name string) error {
	if name == noHeader {
		return nil
	}
	lower := strings.ToLower(name)
	switch {
	case name == "" || strings.ContainsFunc(name, notToken):
		return fmt.Errorf("%s is not the name of a header, such as X-Session-ID, and not %s for none", shown(name), noHeader)
	case len(name) > maxHeader:
		return fmt.Errorf("a name of %d bytes is longer than %d", len(name), maxHeader)
	case slices.Contains(takenHeaders, lower),
		slices.ContainsFunc(takenBeginnings, func(b string) bool { return strings.HasPrefix(lower, b) }):
		return fmt.Errorf("the header %s means something else; name one such as X-Session-ID", name)
	}
	return nil
}

// notToken finds what the name of a header does not hold (RFC 9110, 5.6.2).
func notToken(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
