package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

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
	Body             string              `yaml:"body"`
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
	Body             string        `yaml:"body"`
	Headers          http.Header   `yaml:"headers"`
	Status           string        `yaml:"status"`
	Code             int           `yaml:"code"`
	Duration         time.Duration `yaml:"duration"`
	Aborted          bool          `yaml:"aborted,omitempty"` // ours: go-vcr has no such thing, and skips it
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
	for _, e := range f.Interactions {
		all = append(all, Interaction{
			Request:  Request{e.Request.Method, e.Request.URL, canonical(e.Request.Headers), e.Request.Body},
			Response: Response{e.Response.Code, canonical(e.Response.Headers), e.Response.Body, e.Response.Aborted},
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
				Body: indent(i.Request.Body)},
			Response: response{Code: i.Response.Code, Status: http.StatusText(i.Response.Code), Headers: i.Response.Headers,
				Body: indent(i.Response.Body), Aborted: i.Response.Aborted},
		})
	}
	text, err := yaml.Marshal(f)
	return append([]byte("---\n"), text...), err
}

// ErrTooLarge is the error for a cassette that could not be read again.
var ErrTooLarge = fmt.Errorf("the cassette would be larger than %d bytes", MaxFile)

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
	name := filepath.Join(folder, filepath.FromSlash(c.Name)+extension)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(name, 0o644, bytes.NewReader(text))
}

// indent formats a JSON body; others stay as they are.
func indent(body string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(body), "", "  "); err != nil {
		return body
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
