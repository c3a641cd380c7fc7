package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/internal/atomicfile"
)

// formatVersion is that of go-vcr v3, which calls it "cassette format v2".
const formatVersion = 2

// file is a cassette as go-vcr v3 writes it: all of its fields, in its order.
type file struct {
	Version      int        `yaml:"version"`
	Interactions []exchange `yaml:"interactions"`
}

type exchange struct {
	ID       int      `yaml:"id"`
	Request  request  `yaml:"request"`
	Response response `yaml:"response"`
}

type request struct {
	Proto            string              `yaml:"proto"`
	ProtoMajor       int                 `yaml:"proto_major"`
	ProtoMinor       int                 `yaml:"proto_minor"`
	ContentLength    int64               `yaml:"content_length"`
	TransferEncoding []string            `yaml:"transfer_encoding"`
	Trailer          http.Header         `yaml:"trailer"`
	Host             string              `yaml:"host"`
	RemoteAddr       string              `yaml:"remote_addr"`
	RequestURI       string              `yaml:"request_uri"`
	Body             body                `yaml:"body"`
	Form             map[string][]string `yaml:"form"`
	Headers          http.Header         `yaml:"headers"`
	URL              string              `yaml:"url"`
	Method           string              `yaml:"method"`
}

type response struct {
	Proto            string        `yaml:"proto"`
	ProtoMajor       int           `yaml:"proto_major"`
	ProtoMinor       int           `yaml:"proto_minor"`
	TransferEncoding []string      `yaml:"transfer_encoding"`
	Trailer          http.Header   `yaml:"trailer"`
	ContentLength    int64         `yaml:"content_length"`
	Uncompressed     bool          `yaml:"uncompressed"`
	Body             body          `yaml:"body"`
	Headers          http.Header   `yaml:"headers"`
	Status           string        `yaml:"status"`
	Code             int           `yaml:"code"`
	Duration         time.Duration `yaml:"duration"`
	Aborted          bool          `yaml:"aborted,omitempty"` // ours: go-vcr has no such thing, and skips it
}

// body is text that comes back as it was. A block of YAML cannot begin with white space.
type body string

func (b body) MarshalYAML() (any, error) {
	if text := string(b); text != "" && strings.ContainsRune(" \t\r\n", rune(text[0])) && utf8.ValidString(text) {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text}, nil
	}
	return string(b), nil
}

// CheckStatus reports whether a reply may have this status: the one of a whole reply.
func CheckStatus(code int) error {
	if code < 200 || code > 599 {
		return fmt.Errorf("the status of the reply is %d, want 200 to 599", code)
	}
	return nil
}

// Parse reads the text of a cassette file.
func Parse(text []byte) ([]Interaction, error) {
	var f file
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	if f.Version != formatVersion {
		return nil, fmt.Errorf("not a cassette: want \"version: %d\", the format of go-vcr v3", formatVersion)
	}
	all := make([]Interaction, 0, len(f.Interactions))
	for n, e := range f.Interactions {
		if err := CheckStatus(e.Response.Code); err != nil {
			return nil, fmt.Errorf("interaction %d: %w", n, err)
		}
		all = append(all, Interaction{
			Request:  Request{e.Request.Method, e.Request.URL, canonical(e.Request.Headers), string(e.Request.Body)},
			Response: Response{e.Response.Code, canonical(e.Response.Headers), string(e.Response.Body), e.Response.Aborted},
		})
	}
	return all, nil
}

// Format returns the text of a cassette file. It indents JSON bodies.
func Format(all []Interaction) ([]byte, error) {
	f := file{Version: formatVersion, Interactions: []exchange{}}
	for id, i := range all {
		f.Interactions = append(f.Interactions, exchange{
			ID: id,
			Request: request{Method: i.Request.Method, URL: i.Request.URL, Headers: i.Request.Headers,
				Body: body(indent(i.Request.Body))},
			Response: response{Code: i.Response.Code, Status: http.StatusText(i.Response.Code), Headers: i.Response.Headers,
				Body: body(indent(i.Response.Body)), Aborted: i.Response.Aborted},
		})
	}
	text, err := yaml.Marshal(f)
	return append([]byte("---\n"), text...), err
}

// The errors for a cassette that could not be read again.
var (
	ErrTooLarge   = fmt.Errorf("the cassette would be larger than %d bytes", MaxFile)
	ErrUnreadable = errors.New("the cassette could not be read again")
)

// Write replaces the file of c below folder, which it makes where it is missing.
func Write(folder string, c Cassette) error {
	if err := CheckName(c.Name); err != nil {
		return err
	}
	text, err := Format(c.Interactions)
	if err != nil {
		return err
	}
	if len(text) > MaxFile {
		return fmt.Errorf("%s: %w", c.Name, ErrTooLarge)
	}
	if err := check(text, c.Interactions); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	name := filepath.Join(folder, filepath.FromSlash(c.Name)+extension)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := atomicfile.Sweep(name); err != nil {
		return err
	}
	return atomicfile.Write(name, 0o644, bytes.NewReader(text))
}

// check reads the text of a cassette again.
func check(text []byte, want []Interaction) error {
	got, err := Parse(text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	for n := range want {
		if got[n].Request.Body != indent(want[n].Request.Body) || got[n].Response.Body != indent(want[n].Response.Body) {
			return fmt.Errorf("%w: interaction %d: a body changes", ErrUnreadable, n)
		}
	}
	return nil
}

// indent formats a JSON body; others stay as they are.
func indent(text string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		return text
	}
	return out.String()
}

// canonical has the names of headers as net/http writes them.
func canonical(in http.Header) http.Header {
	out := http.Header{}
	for name, values := range in {
		key := http.CanonicalHeaderKey(name)
		out[key] = append(out[key], values...)
	}
	return out
}
