package replay

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/cassettes"
	"github.com/diglot/diglot/cmd/diglot/internal/replay/fault"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// serve starts a server, whose replies must fit the documents of its profile.
func serve(t *testing.T, c Config) string {
	t.Helper()
	c.Handlers.Log = slog.New(slog.DiscardHandler)
	handler, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if c.Handlers.Profile != "" {
		if documents, err = documents.Narrow(c.Handlers.Profile); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(handlerstest.ContractOf(t, handler, documents))
	t.Cleanup(s.Close)
	return s.URL
}

func embedded(t *testing.T) []cassette.Cassette {
	t.Helper()
	all, err := cassettes.Load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// answer is a whole reply.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of a reply that broke off
}

func (a answer) source() string { return a.header.Get(Header) }

func send(t *testing.T, base, method, path string, header http.Header, body string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return answer{reply.StatusCode, reply.Header, string(text), err}
}

func post(t *testing.T, base, path, body string, faults ...string) answer {
	t.Helper()
	header := http.Header{"Content-Type": {"application/json"}}
	if len(faults) > 0 {
		header[fault.Header] = faults
	}
	return send(t, base, "POST", path, header, body)
}

const (
	chat     = `{"model":"any","messages":[{"role":"user","content":"Never recorded."}]}`
	chatSSE  = `{"model":"any","stream":true,"messages":[{"role":"user","content":"Never recorded."}]}`
	messages = `{"model":"any","max_tokens":99,"messages":[{"role":"user","content":"Never recorded."}]}`
	stream   = `{"model":"any","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"Never recorded."}]}`
)

// TestRecorded sends every recorded request over HTTP: the reply is a recorded one, apart
// from ids and times.
func TestRecorded(t *testing.T) {
	all := embedded(t)
	recordings := NewRecordings(nil, all)
	base := serve(t, Config{Recordings: func() *Recordings { return recordings }})
	count := 0
	for _, c := range all {
		for _, i := range c.Interactions {
			count++
			got := send(t, base, i.Request.Method, i.Request.URL, i.Request.Headers, i.Request.Body)
			if got.status != i.Response.Code || !strings.HasPrefix(got.source(), "recorded ") {
				t.Errorf("%s: status %d from %q, want %d", c.Name, got.status, got.source(), i.Response.Code)
				continue
			}
			var n cassette.Normaliser
			if body := normal(n.Reply(got.body)); !slices.ContainsFunc(recordings.byKey[keyOf(i.Request.Method, i.Request.URL, i.Request.Headers, i.Request.Body)].list,
				func(r recording) bool { var n cassette.Normaliser; return normal(n.Reply(r.Response.Body)) == body }) {
				t.Errorf("%s:\n%s\nwant\n%s", c.Name, got.body, i.Response.Body)
			}
			for name, values := range i.Response.Headers {
				if diff := cmp.Diff(values, got.header.Values(name)); diff != "" {
					t.Errorf("%s: header %s: -want +got\n%s", c.Name, name, diff)
				}
			}
		}
	}
	if count < 500 {
		t.Errorf("only %d exchanges", count)
	}
}

// normal is one text for all spellings of a JSON value, without ids of requests.
func normal(body string) string {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return strings.TrimSpace(body)
	}
	if object, ok := v.(map[string]any); ok && object["request_id"] != nil {
		object["request_id"] = "req"
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// TestRenewed holds that two replays differ in their ids, that one agrees with itself, and
// that a client may send an id back.
func TestRenewed(t *testing.T) {
	const exchange = `{"id":"resp_1","output":[{"id":"fc_1","call_id":"call_1"},{"call_id":"call_2"}],"created_at":0,"text":"call_1"}`
	own := []cassette.Cassette{{Name: "mine", Interactions: []cassette.Interaction{
		{Request: cassette.Request{Method: "POST", URL: "/v1/responses", Body: `{"a":1}`},
			Response: cassette.Response{Code: 200, Headers: http.Header{"Content-Type": {"application/json"}}, Body: exchange}},
		{Request: cassette.Request{Method: "POST", URL: "/v1/responses", Body: `{"call_id":"call_2"}`},
			Response: cassette.Response{Code: 200, Headers: http.Header{"Content-Type": {"application/json"}}, Body: `{"second":true}`}},
	}}}
	recordings := NewRecordings(own, nil)
	handler, err := New(Config{Handlers: handlers.Config{Log: slog.New(slog.DiscardHandler)}, Recordings: func() *Recordings { return recordings }})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler)
	defer s.Close()
	type object struct {
		ID     string
		Output []struct {
			ID     string
			CallID string `json:"call_id"`
		}
		Created int64 `json:"created_at"`
	}
	seen := map[string]bool{}
	for range 3 {
		var o object
		got := post(t, s.URL, "/v1/responses", `{"a": 1}`)
		if err := json.Unmarshal([]byte(got.body), &o); err != nil || got.source() != "recorded mine" {
			t.Fatalf("%v: %+v", err, got)
		}
		if seen[o.ID] || o.Output[0].CallID == o.Output[1].CallID || o.Created == 0 || !strings.HasPrefix(o.ID, "resp_") || len(o.ID) != len("resp_")+26 {
			t.Errorf("ids %+v", o)
		}
		if !strings.Contains(got.body, `"text":"`+o.Output[0].CallID+`"`) {
			t.Errorf("an id differs within the reply: %s", got.body)
		}
		seen[o.ID] = true
		if second := post(t, s.URL, "/v1/responses", `{"call_id":"`+o.Output[1].CallID+`"}`); second.body != `{"second":true}`+"\n" {
			t.Errorf("the id that was sent back: %+v", second)
		}
	}
	if foreign := `{"call_id":"call_ABCDEFGHIJKLMNOPQRSTUVWXYZ"}`; restore(foreign) != foreign {
		t.Error("an id of someone else is taken for a renewed one")
	}
}

// TestOwnFirst holds that the user's recordings win, and that replies to one request come
// in turn.
func TestOwnFirst(t *testing.T) {
	reply := func(body string) cassette.Interaction {
		return cassette.Interaction{Request: cassette.Request{Method: "GET", URL: "/v1/models"},
			Response: cassette.Response{Code: 200, Headers: http.Header{"Content-Type": {"application/json"}}, Body: body}}
	}
	own := []cassette.Cassette{{Name: "a", Interactions: []cassette.Interaction{reply(`{"n":1}`), reply(`{"n":2}`)}}}
	recordings := NewRecordings(own, embedded(t))
	handler, err := New(Config{Handlers: handlers.Config{Log: slog.New(slog.DiscardHandler)}, Recordings: func() *Recordings { return recordings }})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler)
	defer s.Close()
	for _, want := range []string{`{"n":1}`, `{"n":2}`, `{"n":1}`} {
		if got := send(t, s.URL, "GET", "/v1/models", nil, ""); got.body != want+"\n" || got.source() != "recorded a" {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	if got := send(t, s.URL, "GET", "/v1/models", http.Header{"Anthropic-Version": {"2023-06-01"}}, ""); got.source() == "recorded a" {
		t.Error("the other style gets it too")
	}
}

// TestEveryOperation sends to every operation its examples, and all cases that the
// documents yield, in both profiles, plain and streamed. The contract judges the replies.
func TestEveryOperation(t *testing.T) {
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		base := serve(t, Config{Handlers: handlers.Config{Profile: profile}, Models: []string{"m"}})
		own, err := openapi.Embedded()
		if err == nil {
			own, err = own.Narrow(profile)
		}
		if err != nil {
			t.Fatal(err)
		}
		answered := map[string]bool{}
		for _, document := range []*openapi.Document{own.OpenAI, own.Anthropic} {
			for _, o := range document.Operations() {
				for _, body := range bodies(t, o) {
					got := send(t, base, o.Method, strings.ReplaceAll(o.Path, "{model}", "m"), styleHeader(document == own.Anthropic), body)
					if got.status == http.StatusOK {
						answered[o.ID+got.header.Get("Content-Type")] = true
					}
					if got.status >= http.StatusInternalServerError {
						t.Errorf("%s %s: %d %s\n%s", profile, o.ID, got.status, got.body, body)
					}
				}
				if o.Mark.Server != openapi.SupportRefused && !answered[o.ID+"application/json"] {
					t.Errorf("%s: no request of %s was answered", profile, o.ID)
				}
				if _, err := o.Reply(http.StatusOK, "text/event-stream"); err == nil && !answered[o.ID+"text/event-stream"] {
					t.Errorf("%s: no stream of %s", profile, o.ID)
				}
			}
		}
	}
}

func styleHeader(anthropic bool) http.Header {
	header := http.Header{"Content-Type": {"application/json"}}
	if anthropic {
		header["Anthropic-Version"] = []string{"2023-06-01"}
	}
	return header
}

// bodies are the requests of an operation: its examples, also streamed, and cases.
func bodies(t *testing.T, o *openapi.Operation) []string {
	t.Helper()
	if o.Body == nil {
		return []string{""}
	}
	var all []string
	_, err := o.Reply(http.StatusOK, "text/event-stream")
	for _, example := range o.Examples {
		all = append(all, string(example))
		var object map[string]any
		if err == nil && json.Unmarshal(example, &object) == nil {
			object["stream"] = true
			streamed, _ := json.Marshal(object)
			all = append(all, string(streamed))
		}
	}
	cases, err := conformance.Cases(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		all = append(all, string(c.Body))
	}
	return all
}

// TestRecordedRequestsWithoutRecordings makes replies to the requests of real SDKs.
func TestRecordedRequestsWithoutRecordings(t *testing.T) {
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		base := serve(t, Config{Handlers: handlers.Config{Profile: profile}})
		answered := 0
		for _, c := range embedded(t) {
			for _, i := range c.Interactions {
				got := send(t, base, i.Request.Method, i.Request.URL, i.Request.Headers, i.Request.Body)
				switch {
				case got.status == http.StatusOK:
					answered++
				case got.status >= http.StatusInternalServerError:
					t.Errorf("%s: %d %s", c.Name, got.status, got.body)
				}
				if got.source() != "mock" && got.status == http.StatusOK {
					t.Errorf("%s: from %q", c.Name, got.source())
				}
			}
		}
		if answered < 350 {
			t.Errorf("%s: only %d requests are answered", profile, answered)
		}
	}
}

// TestRecordedByTheDocument holds that the other profile has recorded replies where they
// fit it, and made ones where not.
func TestRecordedByTheDocument(t *testing.T) {
	all := embedded(t)
	recordings := NewRecordings(nil, all)
	base := serve(t, Config{Handlers: handlers.Config{Profile: openapi.ProfileDocument}, Recordings: func() *Recordings { return recordings }})
	recorded := 0
	for _, c := range all {
		for _, i := range c.Interactions {
			if got := send(t, base, i.Request.Method, i.Request.URL, i.Request.Headers, i.Request.Body); strings.HasPrefix(got.source(), "recorded ") {
				recorded++
			}
		}
	}
	if recorded < 100 {
		t.Errorf("only %d recorded replies", recorded)
	}
}

// TestEditedDocument holds that a field which is added to a document is refused or ignored
// by its mark alone.
func TestEditedDocument(t *testing.T) {
	const place = "    CreateChatCompletionRequest:\n      type: object\n      description: A conversation to answer, and how to answer it.\n" +
		"      required: [model, messages]\n      properties:\n"
	for _, tt := range []struct {
		mark    string
		status  int
		ignored string
		body    string // what the reply has
	}{
		{"{document: unlisted, server: refused, note: Not here.}", 400, "", `"param":"new_field"`},
		{"{document: unlisted, server: ignored, note: No effect.}", 200, "new_field", `"assistant"`},
		{"{document: supported, server: implemented}", 200, "", `"assistant"`},
	} {
		document := handlerstest.Edited(t, "openai.yaml", place, place+"        new_field: {type: string, description: New., x-support: "+tt.mark+"}\n")
		handler, err := New(Config{Handlers: handlers.Config{Log: slog.New(slog.DiscardHandler), Documents: openapi.Documents{OpenAI: document}}})
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(handler)
		got := post(t, s.URL, "/v1/chat/completions", strings.Replace(chat, `{"model"`, `{"new_field":"x","model"`, 1))
		s.Close()
		if got.status != tt.status || got.header.Get("Diglot-Ignored") != tt.ignored || !strings.Contains(got.body, tt.body) {
			t.Errorf("%s: %+v", tt.mark, got)
		}
	}
}
