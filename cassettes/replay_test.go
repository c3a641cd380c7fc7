package cassettes_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/cassettes"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/script"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/openapi"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// fewest is how many cases must be recorded, whatever happens to the list.
const fewest = 120

// fewestAnswered is how many recorded requests must be answered in the document profile.
const fewestAnswered = 390

// errorEvent is a failure in a recorded stream.
var errorEvent = regexp.MustCompile(`(?m)^(event: error$|data: \{"error":)`)

// clients is who must have been recorded, by style.
var clients = map[string][]string{
	"openai":    {"python", "node", "go", "vercel", "vercelcompatible", "langchain", "langchainjs", "litellm", "pydanticai", "instructor", "codex"},
	"anthropic": {"python", "node", "go", "vercel", "langchain", "langchainjs", "litellm", "pydanticai", "instructor", "claudecode"},
}

// operations is what each vendor's SDK must have been recorded with; the
// second part of a recording's name.
var operations = map[string][]string{
	"openai":    {"chat", "completions", "embeddings", "images", "models", "responses"},
	"anthropic": {"count_tokens", "messages", "models"},
}

// TestReplay sends every recorded request to the handlers and compares the
// replies; each is held against the closed document too.
func TestReplay(t *testing.T) {
	row := &struct{ testing.TB }{t} // what the contract reports to
	contract := handlerstest.Contract(row, newHandler(t, openapi.ProfileDefault))
	for _, c := range load(t) {
		t.Run(c.Name, func(t *testing.T) {
			row.TB = t
			var ids cassette.Normaliser
			for i, interaction := range c.Interactions {
				got := send(t, contract, interaction)
				if diff := gocmp.Diff(expected(interaction), observed(got, interaction, &ids), cmpopts.IgnoreUnexported(frame{})); diff != "" {
					t.Errorf("request %d is answered in another way (-recorded +now); if that is wanted: make record\n%s", i+1, diff)
				}
			}
		})
	}
}

// TestReplayByTheDocument holds the replies of the other profile to the same
// requests against the document as it narrows it. Some are refused there.
func TestReplayByTheDocument(t *testing.T) {
	own, err := openapi.Embedded()
	if err == nil {
		own, err = own.Narrow(openapi.ProfileDocument)
	}
	if err != nil {
		t.Fatal(err)
	}
	row := &struct{ testing.TB }{t}
	contract := handlerstest.ContractOf(row, newHandler(t, openapi.ProfileDocument), own)
	answered := 0
	for _, c := range load(t) {
		t.Run(c.Name, func(t *testing.T) {
			row.TB = t
			for _, interaction := range c.Interactions {
				if got := sendOrAbort(t, contract, interaction); got != nil && got.StatusCode == http.StatusOK {
					answered++
				}
			}
		})
	}
	if answered < fewestAnswered {
		t.Errorf("%d requests are answered, fewer than %d", answered, fewestAnswered)
	}
}

// sendOrAbort returns nil for a stream that the document has no event to fail with.
func sendOrAbort(t *testing.T, handler http.Handler, i cassette.Interaction) *http.Response {
	t.Helper()
	defer func() {
		if cause := recover(); cause != nil && (cause != http.ErrAbortHandler || !errorEvent.MatchString(i.Response.Body)) {
			panic(cause) // not an aborted reply
		}
	}()
	return send(t, handler, i)
}

// TestEveryCaseIsRecorded compares the list of cases with the recordings.
func TestEveryCaseIsRecorded(t *testing.T) {
	recorded := map[string][]string{}
	for _, c := range load(t) {
		name, sdk := cassettes.CaseOf(c)
		recorded[name] = append(recorded[name], sdk)
		if len(c.Interactions) == 0 {
			t.Errorf("%s holds nothing", c.Name)
		}
		if !slices.ContainsFunc(cassettes.Cases, func(k cassettes.Case) bool { return k.Name == name }) {
			t.Errorf("%s is the recording of no case", c.Name)
		}
	}
	for _, k := range cassettes.Cases {
		if len(recorded[k.Name]) == 0 {
			t.Errorf("%s has no recording; make record makes it", k.Name)
		}
		if !strings.HasSuffix(k.About, ".") {
			t.Errorf("%s: %q is not a sentence", k.Name, k.About)
		}
	}
	if len(recorded) < fewest {
		t.Errorf("%d cases are recorded, fewer than %d", len(recorded), fewest)
	}
}

// TestEveryClientIsRecorded wants recordings of all clients, and of the vendors'
// SDKs with each operation.
func TestEveryClientIsRecorded(t *testing.T) {
	byClient, byOperation := map[string]bool{}, map[string]bool{}
	for _, c := range load(t) {
		name, client := cassettes.CaseOf(c)
		parts := strings.Split(name, "/")
		byClient[parts[0]+" "+client] = true
		byOperation[parts[0]+" "+parts[1]+" "+client] = true
	}
	for style, names := range clients {
		for _, client := range names {
			if !byClient[style+" "+client] {
				t.Errorf("no recording of %s for the style %s", client, style)
			}
		}
	}
	for style, names := range operations {
		for _, operation := range names {
			for _, sdk := range []string{"python", "node", "go"} {
				if !byOperation[style+" "+operation+" "+sdk] {
					t.Errorf("no recording of the %s SDK for %s of the style %s", sdk, operation, style)
				}
			}
		}
	}
}

// TestNothingPrivateIsRecorded looks for what scrubbing must have taken out.
func TestNothingPrivateIsRecorded(t *testing.T) {
	for _, c := range load(t) {
		for _, i := range c.Interactions {
			for name := range i.Request.Headers {
				if slices.Contains([]string{"Authorization", "X-Api-Key", "Cookie", "Host"}, http.CanonicalHeaderKey(name)) {
					t.Errorf("%s: the header %s is recorded", c.Name, name)
				}
			}
			if u, err := url.Parse(i.Request.URL); err != nil || u.Host != "" {
				t.Errorf("%s: the URL %q names a host", c.Name, i.Request.URL)
			}
		}
	}
}

func load(t *testing.T) []cassette.Cassette {
	t.Helper()
	all, err := cassettes.Load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// newHandler is the server as it was when the cassettes were made.
func newHandler(t *testing.T, profile openapi.Profile) http.Handler {
	t.Helper()
	models, err := script.Load(bytes.NewReader(cassettes.Script()))
	if err != nil {
		t.Fatal(err)
	}
	var all engine.Mux
	for _, m := range models {
		e, err := m.Engine(slog.New(slog.DiscardHandler), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	handler, err := handlers.New(handlers.Config{Engine: all, Profile: profile, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

func send(t *testing.T, handler http.Handler, i cassette.Interaction) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), i.Request.Method, i.Request.URL, strings.NewReader(i.Request.Body))
	r.Host = "localhost"
	for name, values := range i.Request.Headers {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Result()
}

// reply is the part of a reply that is compared.
type reply struct {
	Status  int
	Headers http.Header
	Body    any // a JSON value, or the frames of a stream
}

func expected(i cassette.Interaction) reply {
	return reply{i.Response.Code, canonical(i.Response.Headers), value(i.Response.Body)}
}

// observed is got in the form of a recording: its headers are those that the
// recording has.
func observed(got *http.Response, i cassette.Interaction, ids *cassette.Normaliser) reply {
	var body bytes.Buffer
	if _, err := body.ReadFrom(got.Body); err != nil {
		return reply{Body: err.Error()}
	}
	headers := http.Header{}
	for name := range canonical(i.Response.Headers) {
		headers[name] = got.Header.Values(name)
	}
	return reply{got.StatusCode, headers, value(ids.Reply(body.String()))}
}

func canonical(in map[string][]string) http.Header {
	out := http.Header{}
	for name, values := range in {
		out[http.CanonicalHeaderKey(name)] = values
	}
	return out
}

// value makes bodies comparable: JSON by its value, with numbers as they are
// written, and a stream by its frames.
func value(body string) any {
	if v, err := decode(body); err == nil {
		return v
	}
	var frames []frame
	for text := range strings.SplitSeq(body, "\n\n") {
		frames = append(frames, frameOf(text))
	}
	// How the choices of one stream interleave is chance.
	slices.SortStableFunc(frames, func(a, b frame) int { return cmp.Compare(a.choice, b.choice) })
	return frames
}

// frame is one event of a stream.
type frame struct {
	choice int // the choice it is of, where it is of one
	Event  string
	Data   any
}

func frameOf(text string) frame {
	event, data, _ := strings.Cut(text, "data: ")
	f := frame{choice: math.MaxInt, Event: event, Data: data}
	if v, err := decode(data); err == nil {
		f.Data = v
	}
	var chunk struct{ Choices []struct{ Index int } }
	if json.Unmarshal([]byte(data), &chunk) == nil && len(chunk.Choices) > 0 {
		f.choice = chunk.Choices[0].Index
	}
	return f
}

func decode(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, errors.New("more than one value")
	}
	return v, nil
}
