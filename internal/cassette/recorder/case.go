package recorder

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/diglot/diglot/internal/cassette"
)

// Case is where an exchange is recorded.
type Case struct {
	Name string // path of the cassette below its folder
	// Numbered: the exchange gets a cassette of its own, named by the next number
	// below Name. All of these number ids together.
	Numbered bool
	// Skip: it is forwarded only.
	Skip bool
}

// Header is the header by which a client names the case of a request.
const Header = "Diglot-Case"

// prefix begins paths that name the case of a request, for clients that only have a
// base URL.
const prefix = "/record/"

// Named returns the case that a client named by [Header] or by a path such as
// /record/NAME/v1/chat/completions, and removes it from the request. All other
// requests are numbered by their paths.
func Named(r *http.Request) (Case, error) {
	name := r.Header.Get(Header)
	r.Header.Del(Header)
	if name != "" {
		return Case{Name: name}, nil
	}
	path := r.URL.EscapedPath()
	if !strings.HasPrefix(path, prefix) {
		return Case{Name: nameOf(publicPath(r)), Numbered: true}, nil
	}
	name, rest, err := split(path)
	if err != nil {
		return Case{}, err
	}
	return Case{Name: name}, Redirect(r, rest)
}

// publicPath is the path of a request without its secrets: it names a file.
func publicPath(r *http.Request) string {
	i := cassette.Interaction{Request: cassette.Request{URL: r.URL.RequestURI(), Headers: r.Header}}
	u, err := url.Parse(cassette.DefaultScrub().Apply(i).Request.URL)
	if err != nil {
		return ""
	}
	return u.Path
}

// split separates the name in a path from the path that is meant.
func split(path string) (name, rest string, err error) {
	path = strings.TrimPrefix(path, prefix)
	for _, root := range []string{"/v1", "/api"} {
		if at := strings.Index(path, root+"/"); at > 0 {
			return path[:at], path[at:], nil
		}
	}
	return "", "", errors.New("want a base URL of the form " + prefix + "NAME/v1")
}

// Redirect gives a request another path, with its escapes.
func Redirect(r *http.Request, path string) error {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return err
	}
	r.URL.Path, r.URL.RawPath = plain, path
	return nil
}

var illegal = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// nameOf is a legal name for a path.
func nameOf(path string) string {
	name := strings.Trim(illegal.ReplaceAllString(strings.TrimPrefix(path, "/v1/"), "-"), "-.")
	name = name[:min(len(name), 100)]
	if cassette.CheckName(name) != nil {
		return "root"
	}
	return name
}
