package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/packages/ssestream"
	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/cassettes"
	"github.com/diglot/diglot/internal/cassette"
)

// place is what a recorded value was sent as.
type place struct{ Style, Route, Part string }

func (p place) String() string { return p.Style + ", " + p.Route + ", " + p.Part }

// covers reports whether a row for p, in which a star is any route, is for q too.
func (p place) covers(q place) bool {
	return p == q || p == place{q.Style, "*", q.Part}
}

// reply is one value that a client got: a body, or one event of a stream.
type reply struct {
	place
	value any
	from  string // the recording
}

// recordedReplies reads all cassettes; of equal values the first one counts.
func recordedReplies(t *testing.T) []reply {
	t.Helper()
	all, err := cassettes.Load()
	if err != nil {
		t.Fatal(err)
	}
	var replies []reply
	seen := map[string]bool{}
	for _, c := range all {
		style, _, _ := strings.Cut(c.Name, "/")
		for _, i := range c.Interactions {
			for _, r := range valuesOf(t, style, i) {
				key := fmt.Sprint(r.place) + marshal(t, r.value)
				if !seen[key] {
					seen[key] = true
					r.from = c.Name
					replies = append(replies, r)
				}
			}
		}
	}
	return replies
}

// valuesOf takes a response apart, a stream with the Go SDK's own decoder.
func valuesOf(t *testing.T, style string, i cassette.Interaction) []reply {
	t.Helper()
	at := place{style, routeOf(t, i), "reply"}
	kind := i.Response.Headers.Get("Content-Type")
	switch {
	case i.Response.Code >= http.StatusBadRequest:
		at.Part = "error"
	case strings.HasPrefix(kind, "text/event-stream"):
		at.Part = "event"
	}
	if at.Part != "event" {
		return []reply{newReply(t, at, i.Response.Body)}
	}
	var replies []reply
	frames := ssestream.NewDecoder(&http.Response{
		Header: http.Header{"Content-Type": {kind}},
		Body:   io.NopCloser(strings.NewReader(i.Response.Body)),
	})
	for frames.Next() {
		if text := strings.TrimSpace(string(frames.Event().Data)); text != "" && text != "[DONE]" {
			replies = append(replies, newReply(t, at, text))
		}
	}
	if err := frames.Err(); err != nil {
		t.Fatal(err)
	}
	return replies
}

// newReply finds the errors among events, and opens the envelope that the
// OpenAI SDKs know by its one field and have no type for.
func newReply(t *testing.T, at place, text string) reply {
	t.Helper()
	value := unmarshal(t, text)
	object, ok := value.(map[string]any)
	if !ok {
		t.Fatalf("%v: %s is no object", at, text)
	}
	switch failure, ok := object["error"]; {
	case at.Style == "openai" && ok && object["type"] == nil && object["id"] == nil:
		if len(object) != 1 {
			t.Errorf("%v: something beside the error in %s", at, text)
		}
		at.Part, value = "error", failure
	case at.Style == "anthropic" && object["type"] == "error":
		at.Part = "error"
	}
	return reply{place: at, value: value}
}

func routeOf(t *testing.T, i cassette.Interaction) string {
	t.Helper()
	at, err := url.Parse(i.Request.URL)
	if err != nil {
		t.Fatal(err)
	}
	path := at.Path
	if strings.HasPrefix(path, "/v1/models/") {
		path = "/v1/models/{model}"
	}
	if at.RawQuery != "" {
		path += "?" + at.RawQuery
	}
	return i.Request.Method + " " + path
}

// unmarshal keeps numbers as they are written.
func unmarshal(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

func marshal(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edit calls change for each place that a JSON pointer leads to, whether there
// is something or not: with what holds it, and its name there. A star is any
// index.
func edit(value any, pointer []string, change func(holder any, name string)) {
	list, ok := value.([]any)
	switch {
	case ok && pointer[0] == "*":
		for i := range list {
			edit(list, slices.Concat([]string{strconv.Itoa(i)}, pointer[1:]), change)
		}
	case len(pointer) == 1:
		change(value, pointer[0])
	default:
		if below, ok := member(value, pointer[0]); ok {
			edit(below, pointer[1:], change)
		}
	}
}

func tokens(pointer string) []string { return strings.Split(strings.TrimPrefix(pointer, "/"), "/") }

// member returns what an object or array has under a name.
func member(holder any, name string) (any, bool) {
	switch holder := holder.(type) {
	case map[string]any:
		value, ok := holder[name]
		return value, ok
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i < len(holder) {
			return holder[i], true
		}
	}
	return nil, false
}

func setMember(holder any, name string, value any) {
	switch holder := holder.(type) {
	case map[string]any:
		holder[name] = value
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i < len(holder) {
			holder[i] = value
		}
	}
}

// readYAML reads a file of this package's testdata, without unknown fields.
func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
