package contract

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/openapi/conformance"
)

// Values of headers are secrets from so many bytes: a shorter one, such as "1", would be
// replaced in every text. Names such as Authorization tell that even a short one is secret.
const (
	leastSecret      = 8
	leastNamedSecret = 4
)

// secrets are what no output may have: the key, the values of --header, and the password
// in the base URL.
func (o *verifyOptions) secrets(target *conformance.Target) []string {
	all := atLeast(leastNamedSecret, target.Key)
	for name, values := range o.header {
		least := leastSecret
		if cassette.IsSecret(name) {
			least = leastNamedSecret
		}
		for _, value := range values {
			all = append(all, atLeast(least, value)...)
			all = append(all, credentials(value)...)
		}
	}
	if u, err := url.Parse(o.baseURL); err == nil && u.User != nil {
		password, _ := u.User.Password()
		pair := u.User.Username() + ":" + password
		all = append(all, atLeast(leastNamedSecret, password, base64.StdEncoding.EncodeToString([]byte(pair)))...)
	}
	return all
}

// credentials are the parts of a value that are secret without the rest: what follows the
// scheme, the pair of Basic and its password, the values of a list and of cookies.
func credentials(value string) []string {
	var all []string
	scheme, rest, ok := strings.Cut(value, " ")
	if rest = strings.TrimSpace(rest); ok {
		all = append(all, atLeast(leastNamedSecret, rest)...)
	}
	if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "Basic") {
		_, password, _ := strings.Cut(string(pair), ":")
		all = append(all, atLeast(leastNamedSecret, string(pair), password)...)
	}
	parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,;=\"", r) })
	return append(all, atLeast(leastSecret, parts...)...)
}

func atLeast(least int, values ...string) []string {
	var long []string
	for _, value := range values {
		if len(value) >= least {
			long = append(long, value)
		}
	}
	return long
}
