// Package record is a recording proxy between an SDK and the server.
//
// The path has the name of the cassette: a request for
// /record/openai/chat/plain-python/v1/chat/completions is forwarded to
// /v1/chat/completions and recorded in openai/chat/plain-python.yaml.
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/diglot/diglot/cassettes"
	normal "github.com/diglot/diglot/internal/cassette"
	"gopkg.in/dnaeon/go-vcr.v3/cassette"
	"gopkg.in/dnaeon/go-vcr.v3/recorder"
)

// Headers that a cassette keeps; all others are removed, such as keys and host names.
var (
	keptOfRequest = []string{"Accept", "Anthropic-Beta", "Anthropic-Version", "Content-Type", "User-Agent",
		"X-Stainless-Helper", "X-Stainless-Helper-Method", "X-Stainless-Lang"}
	keptOfReply = []string{"Allow", "Cache-Control", "Content-Type", "Diglot-Ignored", "Retry-After", "X-Should-Retry"}
)

// Proxy is a recording proxy.
type Proxy struct {
	target *url.URL
	folder string
	wordy  []string // clients whose requests are masked

	mu        sync.Mutex
	recorders map[string]*recorder.Recorder // by cassette
}

// New returns a proxy in front of target that writes cassettes below folder. Requests of
// the clients in wordy are masked, except for words that the script matches.
func New(target *url.URL, folder string, wordy []string) *Proxy {
	return &Proxy{target: target, folder: folder, wordy: wordy, recorders: map[string]*recorder.Recorder{}}
}

// Close writes the cassettes.
func (p *Proxy) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, r := range p.recorders {
		errs = append(errs, r.Stop())
	}
	return errors.Join(errs...)
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, rest, err := split(r.URL.EscapedPath())
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	transport, err := p.transport(name, rest)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	proxy := httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(out *httputil.ProxyRequest) {
			to := *p.target
			to.Path, to.RawPath, to.RawQuery = unescape(rest), rest, out.In.URL.RawQuery
			out.Out.URL = &to
			out.Out.Host = ""
			out.Out.Header.Del("Accept-Encoding")
		},
	}
	proxy.ServeHTTP(w, r)
}

// split separates the cassette's name from an escaped path.
func split(path string) (name, rest string, err error) {
	path, ok := strings.CutPrefix(path, "/record/")
	parts := strings.SplitN(path, "/", 4)
	if !ok || len(parts) < 4 {
		return "", "", errors.New("want /record/STYLE/OPERATION/CASE/...")
	}
	return strings.Join(parts[:3], "/"), "/" + parts[3], nil
}

func unescape(path string) string {
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}

// transport returns the recorder of the cassette. Requests outside the API, such as
// agents' connectivity checks, are not recorded.
func (p *Proxy) transport(name, path string) (http.RoundTripper, error) {
	if !strings.HasPrefix(path, "/v1/") {
		return http.DefaultTransport, nil
	}
	return p.recorder(name)
}

func (p *Proxy) recorder(name string) (*recorder.Recorder, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rec, ok := p.recorders[name]; ok {
		return rec, nil
	}
	file := filepath.Join(p.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	rec, err := recorder.NewWithOptions(&recorder.Options{
		CassetteName: file, Mode: recorder.ModeRecordOnly, SkipRequestLatency: true})
	if err != nil {
		return nil, err
	}
	var ids normal.Normaliser
	words := newMask(cassettes.Script())
	wordy := slices.Contains(p.wordy, name[strings.LastIndexByte(name, '-')+1:])
	rec.AddHook(func(i *cassette.Interaction) error {
		scrub(i, &ids)
		if wordy {
			i.Request.Body, i.Response.Body = words.request(i.Request.Body), words.reply(i.Response.Body)
			i.Request.Headers.Set("User-Agent", agent(i.Request.Headers.Get("User-Agent")))
		}
		return nil
	}, recorder.BeforeSaveHook)
	p.recorders[name] = rec
	return rec, nil
}

// scrub removes what depends on the machine or the run, and indents JSON.
func scrub(i *cassette.Interaction, ids *normal.Normaliser) {
	i.Request = cassette.Request{
		Method:  i.Request.Method,
		URL:     pathOf(i.Request.URL),
		Headers: keep(i.Request.Headers, keptOfRequest),
		Body:    indent(ids.Request(i.Request.Body)),
	}
	i.Response = cassette.Response{
		Code:    i.Response.Code,
		Status:  http.StatusText(i.Response.Code),
		Headers: keep(i.Response.Headers, keptOfReply),
		Body:    indent(ids.Reply(storeHint.ReplaceAllString(i.Response.Body, ""))),
	}
}

// storeHint is what a server with a model store adds to the error of a missing model.
// Recordings are replayed without a store.
var storeHint = regexp.MustCompile(` \\"diglot list\\" shows [^"]*\\"diglot pull [^"]*\\"[^"]* has it\.`)

func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.RequestURI()
}

func keep(headers http.Header, names []string) http.Header {
	kept := http.Header{}
	for _, name := range names {
		if values := headers.Values(name); len(values) > 0 {
			kept[name] = values
		}
	}
	return kept
}

// indent formats a JSON body; others stay as they are.
func indent(body string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(body), "", "  "); err != nil {
		return body
	}
	return out.String()
}
