package contract

import (
	"bytes"
	"encoding/json/v2"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/mock"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// reply is a good reply, which a fault changes.
type reply struct {
	method, path string
	sent         map[string]any // body of the request; nil if it is no JSON object
	status       int
	header       http.Header
	body         []byte
}

func (r *reply) streamed() bool {
	return strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream")
}

// object changes a reply of status 200 that is JSON.
func (r *reply) object(change func(map[string]any)) {
	var o map[string]any
	if r.status != http.StatusOK || r.streamed() || json.Unmarshal(r.body, &o) != nil {
		return
	}
	change(o)
	r.body, _ = json.Marshal(o, json.Deterministic(true))
}

// frames changes the frames of a stream, each without its blank line.
func (r *reply) frames(change func([]string) []string) {
	if !r.streamed() {
		return
	}
	frames := strings.Split(strings.TrimSuffix(string(r.body), "\n\n"), "\n\n")
	r.body = []byte(strings.Join(change(frames), "\n\n") + "\n\n")
}

// events changes the data of each event of a stream; what keep refuses is left out.
func (r *reply) events(keep func(event map[string]any) bool) {
	r.frames(func(frames []string) []string {
		var out []string
		for _, f := range frames {
			head, data, ok := cutData(f)
			var event map[string]any
			if !ok || json.Unmarshal([]byte(data), &event) != nil {
				out = append(out, f)
				continue
			}
			if keep(event) {
				text, _ := json.Marshal(event, json.Deterministic(true))
				out = append(out, head+"data: "+string(text))
			}
		}
		return out
	})
}

// cutData cuts a frame before its data.
func cutData(frame string) (head, data string, ok bool) {
	i := strings.Index(frame, "data: ")
	if i < 0 {
		return frame, "", false
	}
	return frame[:i], frame[i+len("data: "):], true
}

// child is an object inside an object or a list, by names and indexes; empty if it is not
// there, so that a change of it has no effect.
func child(v any, path ...any) map[string]any {
	for _, step := range path {
		switch at := step.(type) {
		case string:
			o, _ := v.(map[string]any)
			v = o[at]
		case int:
			list, _ := v.([]any)
			if at < 0 {
				at += len(list)
			}
			if at < 0 || at >= len(list) {
				return map[string]any{}
			}
			v = list[at]
		}
	}
	if o, ok := v.(map[string]any); ok {
		return o
	}
	return map[string]any{}
}

// proxy serves next, with each reply changed.
func proxy(next http.Handler, change func(*reply)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
		good := httptest.NewRecorder()
		next.ServeHTTP(good, r)
		changed := &reply{method: r.Method, path: r.URL.Path, status: good.Code, header: good.Header(), body: good.Body.Bytes()}
		_ = json.Unmarshal(sent, &changed.sent)
		change(changed)
		for name, values := range changed.header {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(changed.status)
		_, _ = w.Write(changed.body)
	})
}

// model has a name of every kind of character.
const model = "hub/m:1b"

// mockServer is this server over an engine without a model.
func mockServer(t *testing.T) http.Handler {
	t.Helper()
	silent := slog.New(slog.DiscardHandler)
	engine, err := mock.New(mock.Config{Models: []string{model}, Only: true, Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := handlers.New(handlers.Config{Engine: engine, Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

func serve(t *testing.T, handler http.Handler) *conformance.Target {
	t.Helper()
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if documents, err = documents.Narrow(openapi.ProfileDefault); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &conformance.Target{
		BaseURL: server.URL, Documents: documents, Marks: true, Client: client(4),
		Models: conformance.Models{Text: model, Embedding: model, Image: model, Vision: model},
	}
}

// named chooses scenarios by name.
func named(all []conformance.Scenario, names ...string) []conformance.Scenario {
	return slices.DeleteFunc(slices.Clone(all), func(s conformance.Scenario) bool { return !slices.Contains(names, s.Name) })
}
