// Package record records the SDKs' exchanges with the server.
//
// The path has the name of the cassette: a request for
// /record/openai/chat/plain-python/v1/chat/completions is forwarded to
// /v1/chat/completions and recorded in openai/chat/plain-python.yaml.
package record

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/diglot/diglot/cassettes"
	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/internal/cassette/recorder"
)

// New returns a proxy in front of target that writes cassettes below folder. Requests of
// the clients in wordy are masked, except for words that the script matches.
func New(target *url.URL, folder string, wordy []string) *recorder.Proxy {
	return recorder.New(recorder.Config{
		Upstream: target,
		Folder:   folder,
		Case:     caseOf,
		Scrub:    cassette.DefaultScrub(),
		Edit:     func(name string) func(*cassette.Interaction) { return editor(name, wordy) },
		Log:      slog.New(slog.DiscardHandler),
	})
}

// caseOf is the case in a request's path. Requests outside the API, such as agents'
// connectivity checks, are not recorded.
func caseOf(r *http.Request) (recorder.Case, error) {
	name, rest, err := split(r.URL.EscapedPath())
	if err != nil {
		return recorder.Case{}, err
	}
	return recorder.Case{Name: name, Skip: !strings.HasPrefix(rest, "/v1/")}, recorder.Redirect(r, rest)
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

// editor removes what depends on this machine from the exchanges of one case, and masks
// those of wordy clients.
func editor(name string, wordy []string) func(*cassette.Interaction) {
	words := newMask(cassettes.Script())
	masked := slices.Contains(wordy, name[strings.LastIndexByte(name, '-')+1:])
	return func(i *cassette.Interaction) {
		i.Response.Body = storeHint.ReplaceAllString(i.Response.Body, "")
		if masked {
			i.Request.Body, i.Response.Body = words.request(i.Request.Body), words.reply(i.Response.Body)
			i.Request.Headers.Set("User-Agent", agent(i.Request.Headers.Get("User-Agent")))
		}
	}
}

// storeHint is what a server with a model store adds to the error of a missing model.
// Recordings are replayed without a store.
var storeHint = regexp.MustCompile(` \\"diglot list\\" shows [^"]*\\"diglot pull [^"]*\\"[^"]* has it\.`)
