package conformance

import (
	"bytes"
	"cmp"
	"encoding/json/v2"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Request is a request to a server under test.
type Request struct {
	Method string // empty: POST with a body, else GET
	Path   string // below the base URL, with /v1 and a query if there is one
	Header http.Header
	Body   any // []byte and string are sent as they are, anything else as JSON; nil: none
}

func (r Request) method() string {
	switch {
	case r.Method != "":
		return r.Method
	case r.Body != nil:
		return http.MethodPost
	}
	return http.MethodGet
}

func (r Request) encode() ([]byte, error) {
	switch body := r.Body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return body, nil
	case string:
		return []byte(body), nil
	}
	return json.Marshal(r.Body, json.Deterministic(true))
}

// Exchange is a request that was sent and its whole reply.
type Exchange struct {
	Method  string
	URL     string
	Path    string // without the query
	Sent    http.Header
	Request []byte // body

	Status   int
	Header   http.Header
	Body     []byte
	Err      error // the reply broke off after its header
	Duration time.Duration

	// The lengths of Request and Body where these are only the start; else 0.
	RequestSize, BodySize int
}

// Start is the exchange with no more than so many bytes of either body, which are copied.
func (x *Exchange) Start(most int) *Exchange {
	short := *x
	short.Request, short.RequestSize = start(x.Request, x.RequestSize, most)
	short.Body, short.BodySize = start(x.Body, x.BodySize, most)
	return &short
}

func start(body []byte, size, most int) (short []byte, whole int) {
	if len(body) <= most {
		return body, size
	}
	return bytes.Clone(body[:most]), cmp.Or(size, len(body))
}

// JSON decodes the reply.
func (x *Exchange) JSON(into any) error {
	if err := json.Unmarshal(x.Body, into); err != nil {
		return fmt.Errorf("the reply is not the JSON that was expected: %w", err)
	}
	return nil
}

// MediaType is the Content-Type of the reply without parameters.
func (x *Exchange) MediaType() string {
	mediaType, _, err := mime.ParseMediaType(x.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return mediaType
}

// Frame is one server-sent event.
type Frame struct {
	Event string // empty: it has no name
	Data  string
}

// Frames reads an event stream by the rules of the WHATWG. whole reports whether the last
// event has its blank line; without it, it is not in the list.
func (x *Exchange) Frames() (frames []Frame, whole bool) {
	var f Frame
	var data []string
	whole = true
	text := strings.ReplaceAll(strings.ReplaceAll(string(x.Body), "\r\n", "\n"), "\r", "\n")
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			if data != nil {
				f.Data = strings.Join(data, "\n")
				frames = append(frames, f)
			}
			f, data, whole = Frame{}, nil, true
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			f.Event, whole = value, false
		case "data":
			data, whole = append(data, value), false
		}
	}
	return frames, whole
}

// Curl is a shell command that sends the same request. Keys are not in it.
func (x *Exchange) Curl() string {
	parts := []string{"curl", "-i"}
	if x.Method != http.MethodGet && !(x.Method == http.MethodPost && x.Request != nil) {
		parts = append(parts, "-X", x.Method)
	}
	parts = append(parts, quote(x.URL))
	for name, values := range sorted(x.Sent) {
		for _, value := range values {
			switch name {
			case "User-Agent", "Accept-Encoding":
				continue
			case "Authorization":
				value = "Bearer $API_KEY"
			case "X-Api-Key":
				value = "$API_KEY"
			}
			parts = append(parts, "-H", quote(strings.ToLower(name)+": "+value))
		}
	}
	if x.Request != nil {
		parts = append(parts, "-d", quote(string(x.Request)))
	}
	return strings.Join(parts, " ")
}

// variable is a value that stands for a secret one.
var variable = regexp.MustCompile(`^[a-z0-9-]+: (Bearer )?\$[A-Z][A-Z0-9_]*$`)

// quote quotes for a shell, which is to expand the variable of a header.
func quote(s string) string {
	if variable.MatchString(s) {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func sorted(h http.Header) func(func(string, []string) bool) {
	return func(yield func(string, []string) bool) {
		names := make([]string, 0, len(h))
		for name := range h {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if !yield(name, h[name]) {
				return
			}
		}
	}
}

// shown is the start of a body, for people.
func shown(body []byte) string {
	const most = 2000
	if len(body) > most {
		return strings.ToValidUTF8(string(body[:most]), "") + fmt.Sprintf("… (%d bytes)", len(body))
	}
	return string(bytes.ToValidUTF8(body, []byte("\ufffd")))
}
