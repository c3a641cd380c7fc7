package replay

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/diglot/diglot/internal/cassette"
)

// own starts a server with one recording of the user: the reply to the request {"n":1}.
func own(t *testing.T, response cassette.Response) string {
	t.Helper()
	recordings := NewRecordings([]cassette.Cassette{{Name: "mine", Interactions: []cassette.Interaction{
		{Request: cassette.Request{Method: "POST", URL: "/v1/messages", Body: `{"n":1}`}, Response: response}}}}, nil)
	return plain(t, Config{Recordings: func() *Recordings { return recordings }})
}

// TestRecordedStreams holds that a stream is played as it was recorded, whatever its line
// ends, and up to where it broke off.
func TestRecordedStreams(t *testing.T) {
	for name, body := range map[string]string{
		"LF":              "data: 1\n\ndata: 2\n\n",
		"CRLF":            "event: a\r\ndata: 1\r\n\r\n: comment\r\n\r\ndata: 2\r\n\r\n",
		"CR":              "data: 1\r\rdata: 2\r\r",
		"an event begun":  "data: 1\n\ndata: {\"half\":",
		"no blank line":   "data: [DONE]",
		"nothing at all":  "",
		"a comment begun": "data: 1\n\n: comm",
	} {
		for _, aborted := range []bool{false, true} {
			base := own(t, cassette.Response{Code: 200, Headers: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Aborted: aborted})
			got := post(t, base, "/v1/messages", `{"n":1}`)
			if got.body != body || (got.err != nil) != aborted {
				t.Errorf("%s, aborted %v: %+v", name, aborted, got)
			}
		}
	}
	base := own(t, cassette.Response{Code: 200, Headers: http.Header{"Content-Type": {"text/event-stream"}}, Body: "data: 1\r\n\r\ndata: 2\r\n\r\n"})
	if got := post(t, base, "/v1/messages", `{"n":1}`, "cut;after=1"); got.body != "data: 1\r\n\r\n" || got.err == nil {
		t.Errorf("cut: %+v", got)
	}
}

// TestRecordedHeaders holds that a recording replaces no header of the server but those that
// say what is answered.
func TestRecordedHeaders(t *testing.T) {
	base := own(t, cassette.Response{Code: 200, Body: `{}`, Headers: http.Header{
		"Content-Type": {"application/json"}, "Retry-After": {"7"}, "X-Request-Id": {"req_other"}, "Set-Cookie": {"a=b"},
		"Access-Control-Allow-Origin": {"*"}, "Diglot-Replay": {"mock"}, "Content-Encoding": {"gzip"}}})
	got := post(t, base, "/v1/messages", `{"n":1}`)
	for name, want := range map[string]string{"Content-Type": "application/json", "Retry-After": "7", "Set-Cookie": "",
		"Access-Control-Allow-Origin": "", "Diglot-Replay": "recorded mine", "Content-Encoding": ""} {
		if value := got.header.Get(name); value != want {
			t.Errorf("header %s is %q, want %q", name, value, want)
		}
	}
	if id := got.header.Get("X-Request-Id"); id == "" || id == "req_other" {
		t.Errorf("the request id is %q", id)
	}
}

// TestShortReplies holds that a fault comes, even if the reply is over before its place.
func TestShortReplies(t *testing.T) {
	base := plain(t, Config{})
	short := func(body string) string { return strings.Replace(body, `"model"`, `"max_tokens":1,"model"`, 1) }
	shortMessage := strings.Replace(stream, `"max_tokens":99`, `"max_tokens":1`, 1)
	for _, tt := range []struct{ path, body, fault, last string }{
		{"/v1/chat/completions", short(chatSSE), "error;after=50", `data: {"error":{`},
		{"/v1/chat/completions", strings.Replace(short(chatSSE), `"model"`, `"n":2,"model"`, 1), "error;after=50", `data: {"error":{`},
		{"/v1/completions", short(legacy), "error;after=50", `data: {"error":{`},
		{"/v1/responses", responses, "error;after=999", "event: error\n"},
		{"/v1/messages", shortMessage, "error;after=50", "event: error\n"},
		{"/v1/chat/completions", chatSSE, "rubbish;after=999", "data: {\"delta\":\n\n"},
		{"/v1/messages", stream, "rubbish;after=999", "event: message_stop\ndata: {\"delta\":\n\n"},
	} {
		got := post(t, base, tt.path, tt.body, tt.fault)
		frames := strings.SplitAfter(strings.TrimSpace(got.body)+"\n\n", "\n\n")
		if last := frames[len(frames)-2]; !strings.HasPrefix(last, tt.last) || got.status != 200 {
			t.Errorf("%s of %s: %d, the last event is %s", tt.fault, tt.path, got.status, last)
		}
	}
	if got := post(t, base, "/v1/messages", strings.Replace(shortMessage, `"stream":true`, `"stream":false`, 1), "error;after=50"); got.status != 500 {
		t.Errorf("an error of a short reply that is whole: %+v", got)
	}
	for _, tt := range []struct {
		path, body, fault string
		whole             bool // but for the end of the connection
	}{
		{"/v1/messages", messages, "cut;after=3", true},
		{"/v1/messages", messages, "cut;bytes=1000000", true},
		{"/v1/messages", stream, "cut;bytes=1000000", false},
		{"/v1/messages", stream, "cut;after=999", false},
		{"/v1/chat/completions", chatSSE, "cut;after=999", false},
		{"/v1/messages", messages, "status=503, cut;after=1", true},
	} {
		got := post(t, base, tt.path, tt.body, tt.fault)
		if got.err == nil || got.body == "" || tt.whole && !json.Valid([]byte(got.body)) || strings.Contains(tt.fault, "after=999") && (strings.Contains(got.body, "[DONE]") || strings.Contains(got.body, "message_stop")) {
			t.Errorf("%s of %s: %+v", tt.fault, tt.path, got)
		}
	}
}
