package scenario_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/scenario"
)

// stub answers without a network.
type stub func(*http.Request) (*http.Response, error)

func (s stub) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// silence is a body that never comes.
type silence struct{ ctx context.Context }

func (s silence) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestKeepAliveEnds holds that a server that says nothing, or does not end, does not hold up
// the run.
func TestKeepAliveEnds(t *testing.T) {
	all := scenario.All()
	i := slices.IndexFunc(all, func(s conformance.Scenario) bool { return s.Name == "openai/chat/stream/keep-alive" })
	stream := func(body io.Reader) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body)}, nil
	}
	for _, tt := range []struct {
		name   string
		server stub
		want   string // in the failure; empty: none
	}{
		{"no header", func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }, "silent for 30s"},
		{"no body", func(r *http.Request) (*http.Response, error) { return stream(silence{r.Context()}) }, "silent for 30s"},
		{"no end", func(*http.Request) (*http.Response, error) { return stream(endless{}) }, "does not end"},
		{"all", func(*http.Request) (*http.Response, error) { return stream(strings.NewReader("data: [DONE]\n\n")) }, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			target := documents(t)
			target.BaseURL, target.Models.Text, target.Client = "http://server", "m", &http.Client{Transport: tt.server}
			one := all[i]
			one.Operation = "" // whether it is offered is not asked
			result := conformance.Run(t.Context(), target, []conformance.Scenario{one}, conformance.Options{}).Results[0]
			got := ""
			if len(result.Failures) > 0 {
				got = result.Failures[0].Message
			}
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		})
	}
}
