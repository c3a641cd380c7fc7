package cassette

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Scrubbed stands where something was removed from a text.
const Scrubbed = "scrubbed"

// Scrub removes from an exchange what is nobody else's business. Headers are kept
// by a list, so that an unknown one is not.
type Scrub struct {
	Request, Response []string         // names of the headers to keep
	Bodies            []*regexp.Regexp // what to remove from bodies
}

// DefaultScrub keeps the headers that say what is asked and answered.
func DefaultScrub() Scrub {
	return Scrub{
		Request: []string{"Accept", "Anthropic-Beta", "Anthropic-Version", "Content-Type", "User-Agent",
			"X-Stainless-Helper", "X-Stainless-Helper-Method", "X-Stainless-Lang"},
		Response: []string{"Allow", "Cache-Control", "Content-Type", "Diglot-Ignored", "Retry-After", "X-Should-Retry"},
	}
}

// Apply scrubs an exchange: headers, parameters of the query that are secrets, and
// every repetition of a secret in the bodies.
func (s Scrub) Apply(i Interaction) Interaction {
	hide := hider(secrets(i))
	i.Request.URL = hide.Replace(scrubQuery(i.Request.URL))
	i.Request.Headers = keep(i.Request.Headers, s.Request, hide)
	i.Response.Headers = keep(i.Response.Headers, s.Response, hide)
	i.Request.Body, i.Response.Body = hide.Replace(i.Request.Body), hide.Replace(i.Response.Body)
	for _, e := range s.Bodies {
		i.Request.Body = e.ReplaceAllLiteralString(i.Request.Body, Scrubbed)
		i.Response.Body = e.ReplaceAllLiteralString(i.Response.Body, Scrubbed)
	}
	return i
}

// leastSecret is the length from which a credential is looked for elsewhere; "none"
// is a word.
const leastSecret = 8

// secretName matches the names of headers and parameters whose values are secrets.
var secretName = regexp.MustCompile(`(?i)key|token|secret|signature|passw|credential|auth|cookie|organi[sz]ation|project|account|^sig$|^code$`)

// secrets returns the values in an exchange that must not be anywhere in it.
func secrets(i Interaction) []string {
	var all []string
	add := func(value string) {
		for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" ,;=\"", r) }) {
			if len(part) >= leastSecret {
				all = append(all, part)
			}
		}
	}
	for _, headers := range []http.Header{i.Request.Headers, i.Response.Headers} {
		for name, values := range headers {
			if secretName.MatchString(name) {
				for _, v := range values {
					add(v)
				}
			}
		}
	}
	if u, err := url.Parse(i.Request.URL); err == nil {
		for name, values := range u.Query() {
			if secretName.MatchString(name) {
				for _, v := range values {
					add(v)
				}
			}
		}
	}
	return all
}

// hider replaces secrets, longer ones first.
func hider(secrets []string) *strings.Replacer {
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var pairs []string
	for _, s := range slices.Compact(secrets) {
		pairs = append(pairs, s, Scrubbed)
	}
	return strings.NewReplacer(pairs...)
}

// scrubQuery removes the host and the values of parameters that are secrets. All else
// stays as it was written.
func scrubQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return Scrubbed
	}
	parameters := strings.Split(u.RawQuery, "&")
	for i, p := range parameters {
		name, _, _ := strings.Cut(p, "=")
		if plain, err := url.QueryUnescape(name); err != nil || secretName.MatchString(plain) {
			parameters[i] = name + "=" + Scrubbed
		}
	}
	u.RawQuery = strings.Join(parameters, "&")
	return u.RequestURI()
}

// comment is what a User-Agent tells about the machine.
var comment = regexp.MustCompile(`\s*\(+[^()]*\)+`)

// keep returns the listed headers without secrets.
func keep(headers http.Header, names []string, hide *strings.Replacer) http.Header {
	kept := http.Header{}
	for _, name := range names {
		key := http.CanonicalHeaderKey(name)
		for _, value := range headers.Values(key) {
			if key == "User-Agent" {
				value = comment.ReplaceAllString(value, "")
			}
			kept[key] = append(kept[key], hide.Replace(value))
		}
	}
	return kept
}
