package protocol_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/mock"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/protocol"
)

// TestAgainstMock runs all scenarios against this server, over an engine without a model.
func TestAgainstMock(t *testing.T) {
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		t.Run(string(profile), func(t *testing.T) {
			target := serve(t, profile)
			report := conformance.Run(t.Context(), target, protocol.All(target.Documents), conformance.Options{Parallel: 4})
			for _, r := range report.Results {
				for _, f := range r.Failures {
					t.Errorf("%s: %s\n%s\n%d %s", r.Name, f.Message, f.Exchange.Curl()[:min(300, len(f.Exchange.Curl()))], f.Exchange.Status, f.Exchange.Body)
				}
				if r.Outcome == conformance.Skipped {
					t.Errorf("%s: skipped: %s", r.Name, r.Reason)
				}
			}
			if n := report.Count(conformance.Pass); n < 100 {
				t.Errorf("only %d scenarios passed", n)
			}
		})
	}
}

// TestKeys holds this server to its keys, and finds a server whose error is another.
func TestKeys(t *testing.T) {
	keys := handlers.NewKeys(handlers.Key{Name: "k", Key: "secret"})
	handler, err := handlers.New(handlers.Config{Engine: mocked(t), Log: slog.New(slog.DiscardHandler), Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	forbids := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "secret" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
	anyKey := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Api-Key", "secret")
		handler.ServeHTTP(w, r)
	})
	for _, style := range []string{"openai", "anthropic"} {
		for _, tt := range []struct {
			name    string
			handler http.Handler
			want    conformance.Outcome
		}{{"this server", handler, conformance.Pass}, {"403", forbids, conformance.Fail}, {"any key", anyKey, conformance.NotOffered}} {
			if r := judge(t, tt.handler, style+"/http/wrong-key", true); r.Outcome != tt.want {
				t.Errorf("%s, %s: %s %s %v, want %s", style, tt.name, r.Outcome, r.Reason, r.Failures, tt.want)
			}
		}
	}
}

// TestOtherServers gives the same reply to every request.
func TestOtherServers(t *testing.T) {
	const envelope = `{"error":{"message":"No.","type":"invalid_request_error","param":null,"code":null}}`
	for _, tt := range []struct {
		name   string
		status int
		header []string
		marks  bool
		want   conformance.Outcome
	}{
		{"openai/http/redirects", 307, nil, false, conformance.Pass},
		{"openai/http/redirects", 308, nil, false, conformance.Pass},
		{"openai/http/redirects", 301, nil, false, conformance.Fail},
		{"openai/http/preflight", 405, nil, false, conformance.NotOffered},
		{"openai/http/preflight", 405, nil, true, conformance.Fail},
		{"openai/http/preflight", 200, []string{"Access-Control-Allow-Methods", "GET"}, false, conformance.Fail},
		{"openai/http/cors-on-errors", 400, nil, false, conformance.NotOffered},
		{"anthropic/http/cors-varies", 400, nil, false, conformance.NotOffered},
		{"openai/chat/body-of-another-type", 400, nil, false, conformance.Pass},
		{"openai/chat/body-of-another-type", 422, nil, false, conformance.Pass},
		{"openai/chat/body-of-another-type", 400, nil, true, conformance.Fail},
		{"openai/chat/body-of-another-type", 500, nil, false, conformance.Fail},
		{"openai/chat/method-get", 400, nil, false, conformance.Skipped},
		{"openai/chat/method-get", 400, nil, true, conformance.Fail},
		{"openai/embeddings/method-get", 400, nil, false, conformance.Fail},
		{"openai/embeddings/method-head", 200, nil, false, conformance.Fail},
		{"openai/models/method-head", 500, nil, false, conformance.Fail},
	} {
		same := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for i := 0; i < len(tt.header); i += 2 {
				w.Header().Set(tt.header[i], tt.header[i+1])
			}
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, envelope)
		}
		if r := judge(t, http.HandlerFunc(same), tt.name, tt.marks); r.Outcome != tt.want {
			t.Errorf("%s, marks %v, %d: %s %s %v, want %s", tt.name, tt.marks, tt.status, r.Outcome, r.Reason, r.Failures, tt.want)
		}
	}
}

// judge runs one scenario against a handler.
func judge(t *testing.T, handler http.Handler, name string, marks bool) conformance.Result {
	t.Helper()
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	target := &conformance.Target{
		BaseURL: server.URL, Documents: documents, Marks: marks, Key: "secret", Models: conformance.Models{Text: "hub/m:1b", Embedding: "hub/m:1b"},
		Client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	for _, s := range protocol.All(documents) {
		if s.Name == name {
			return conformance.Run(t.Context(), target, []conformance.Scenario{s}, conformance.Options{}).Results[0]
		}
	}
	t.Fatalf("no scenario %s", name)
	return conformance.Result{}
}

func mocked(t *testing.T) engine.Engine {
	t.Helper()
	mocked, err := mock.New(mock.Config{Models: []string{"hub/m:1b"}, Only: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return mocked
}

func serve(t *testing.T, profile openapi.Profile) *conformance.Target {
	t.Helper()
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if documents, err = documents.Narrow(profile); err != nil {
		t.Fatal(err)
	}
	handler, err := handlers.New(handlers.Config{Engine: mocked(t), Log: slog.New(slog.DiscardHandler), Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	const name = "hub/m:1b"
	return &conformance.Target{
		BaseURL: server.URL, Documents: documents, Marks: true,
		Models: conformance.Models{Text: name, Embedding: name, Image: name, Vision: name},
	}
}
