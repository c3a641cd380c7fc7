package conformance

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi"
)

// streamed judges a stream of chat completions.
func streamed(ctx context.Context, t *testing.T, body string) []finding {
	t.Helper()
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	o, _ := documents.OpenAI.Operation("createChatCompletion")
	return judge(ctx, o, &Exchange{
		Method: "POST", Path: o.Path, Status: 200, Body: []byte(body),
		Header: http.Header{"Content-Type": {"text/event-stream"}},
	})
}

// TestJudgingIsBounded has streams that would take long to judge.
func TestJudgingIsBounded(t *testing.T) {
	chunk := `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}` + "\n\n"
	var many strings.Builder
	for i := range 3 * maxFindings {
		fmt.Fprintf(&many, "event: e%d\ndata: {}\n\n", i)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	has := func(all []finding, a aspect) bool {
		for _, f := range all {
			if f.aspect == a {
				return true
			}
		}
		return false
	}
	if all := streamed(t.Context(), t, many.String()); len(all) < maxFindings/2 || len(all) > 2*maxFindings {
		t.Errorf("%d findings of different events", len(all))
	}
	for _, tt := range []struct {
		name, body string
		ctx        context.Context
		want       bool // a finding of the last event
	}{
		{"short", chunk + "data: {\n\n", t.Context(), true},
		{"after the end", chunk + "data: {\n\n", ended, false},
		{"long", strings.Repeat(chunk, maxFrames) + "data: {\n\n", t.Context(), false},
	} {
		if all := streamed(tt.ctx, t, tt.body); has(all, aspectFrames) != tt.want {
			t.Errorf("%s: %v, want %v: %v", tt.name, !tt.want, tt.want, all)
		}
	}
}

// endless is a stream without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, "data: {}\n\n"), nil }

func (endless) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(endless{})}, nil
}

// TestEndlessReply is read up to a limit.
func TestEndlessReply(t *testing.T) {
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	target := &Target{BaseURL: "http://h", Documents: documents, Client: &http.Client{Transport: endless{}}}
	x, err := target.Send(t.Context(), Request{Path: "/v1/chat/completions"})
	if err != nil || len(x.Body) != 4<<20 || x.Err == nil {
		t.Errorf("%d bytes, %v, %v", len(x.Body), x.Err, err)
	}
}

func TestHTMLEscape(t *testing.T) {
	for text, want := range map[string]string{
		`"\u003c"`: `\u003c`, `"a\u003E"`: `\u003E`, `"\\u003c"`: "", `"\\\u0026"`: `\u0026`, `"\u0041 \u0026"`: `\u0026`,
		`"\u00`: "", `"\u00e9"`: "", "": "",
	} {
		if got := string(htmlEscape([]byte(text))); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
