package cassette

import (
	"net/http"
	"net/url"
	"regexp"
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
	hide := newHider(secrets(i))
	i.Request.URL = hide.text(scrubQuery(i.Request.URL))
	i.Request.Headers = keep(i.Request.Headers, s.Request, hide)
	i.Response.Headers = keep(i.Response.Headers, s.Response, hide)
	for _, body := range []*string{&i.Request.Body, &i.Response.Body} {
		*body = hide.text(*body)
		for _, e := range []*regexp.Regexp{member, inner} {
			*body = e.ReplaceAllString(*body, "${1}"+Scrubbed)
		}
		for _, e := range s.Bodies {
			*body = e.ReplaceAllLiteralString(*body, Scrubbed)
		}
	}
	return i
}

// leastSecret is the length from which a credential is looked for elsewhere; "none"
// is a word.
const leastSecret = 8

var (
	// secretName matches the names of headers and parameters whose values are secrets.
	secretName = regexp.MustCompile(`(?i)key|token|secret|signature|passw|pwd|credential|auth|bearer|jwt|cookie|session|e-?mail|` +
		`organi[sz]ation|project|account|^sig$|^code$|(?:^|[._-])(?:sid|pass)$`)

	// member is a string of a JSON body, up to the end of its value, and inner is one of
	// JSON within a string. Their names are fewer: a "token" is also a part of a text,
	// and a "key" one of a map.
	member = regexp.MustCompile(`(?i)("` + memberName + `"\s*:\s*")((?:[^"\\]|\\.)+)`)
	inner  = regexp.MustCompile(`(?i)(\\+"` + memberName + `\\+"\s*:\s*\\+")((?:[^"\\]|\\[^"])+)`)
)

const memberName = `(?:(?:x-)?api[_-]?key|(?:access|auth|refresh|id|session|bearer)[_-]?token|authorization|` +
	`(?:client[_-]?)?secret|(?:secret|private)[_-]?key|password|passwd|jwt)`

// IsSecret reports whether a header or parameter of that name holds a secret.
func IsSecret(name string) bool { return secretName.MatchString(name) }

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
				add(strings.Join(values, " "))
			}
		}
	}
	for _, agent := range i.Request.Headers.Values("User-Agent") {
		add(strings.Join(address.FindAllString(agent, -1), " "))
	}
	if u, err := url.Parse(i.Request.URL); err == nil {
		mapParameters(u.RawQuery, func(name, value string) string {
			if plain, err := url.QueryUnescape(value); err == nil {
				add(plain)
			}
			return ""
		})
	}
	for _, e := range []*regexp.Regexp{member, inner} {
		for _, found := range e.FindAllStringSubmatch(i.Request.Body, -1) {
			add(unescaped(found[2]))
		}
	}
	return all
}

// scrubQuery removes the host and the values of parameters that are secrets. All else
// stays as it was written.
func scrubQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return Scrubbed
	}
	u.RawQuery = mapParameters(u.RawQuery, func(name, _ string) string { return name + "=" + Scrubbed })
	return u.RequestURI()
}

// mapParameters replaces the parameters of a query that are secrets. For some servers
// ";" separates parameters too, for others it is a part of a value.
func mapParameters(query string, replace func(name, value string) string) string {
	isSecret := func(p string) (name, value string, ok bool) {
		name, value, _ = strings.Cut(p, "=")
		plain, err := url.QueryUnescape(name)
		return name, value, err != nil || secretName.MatchString(plain)
	}
	all := strings.Split(query, "&")
	for i, p := range all {
		if name, value, ok := isSecret(p); ok {
			all[i] = replace(name, value)
			continue
		}
		parts := strings.Split(p, ";")
		for j, part := range parts {
			if name, value, ok := isSecret(part); ok {
				parts[j] = replace(name, value)
			}
		}
		all[i] = strings.Join(parts, ";")
	}
	return strings.Join(all, "&")
}

// comment is what a User-Agent tells about the machine.
var comment = regexp.MustCompile(`\s*\(+[^()]*\)+`)

// address is one of e-mail.
var address = regexp.MustCompile(`[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}`)

// keep returns the listed headers without secrets.
func keep(headers http.Header, names []string, hide *hider) http.Header {
	kept := http.Header{}
	for _, name := range names {
		key := http.CanonicalHeaderKey(name)
		for _, value := range headers.Values(key) {
			if key == "User-Agent" {
				value = comment.ReplaceAllString(value, "")
			}
			kept[key] = append(kept[key], address.ReplaceAllLiteralString(hide.text(value), Scrubbed))
		}
	}
	return kept
}
