package conformance

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrames(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       []Frame
		whole      bool
	}{
		{"one without a name", "data: {}\n\n", []Frame{{"", "{}"}}, true},
		{"a name and a comment", ": ping\nevent: a\ndata: 1\n\n", []Frame{{"a", "1"}}, true},
		{"two lines of data", "data: 1\ndata: 2\n\n", []Frame{{"", "1\n2"}}, true},
		{"no blank after the colon", "data:1\n\n", []Frame{{"", "1"}}, true},
		{"other line ends", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\r", []Frame{{"a", "1"}, {"", "2"}}, true},
		{"a name without data is no event", "event: a\n\ndata: 1\n\n", []Frame{{"", "1"}}, true},
		{"the last blank line is missing", "data: 1\n\ndata: 2\n", []Frame{{"", "1"}}, false},
	} {
		frames, whole := (&Exchange{Body: []byte(tt.body)}).Frames()
		if diff := cmp.Diff(tt.want, frames); diff != "" || whole != tt.whole {
			t.Errorf("%s: whole %v (-want +got)\n%s", tt.name, whole, diff)
		}
	}
}

func TestCurl(t *testing.T) {
	x := &Exchange{
		Method: "POST", URL: "http://h/v1/x", Request: []byte(`{"a":"it's"}`),
		Sent: http.Header{"Authorization": {"Bearer secret"}, "X-Api-Key": {"secret"}, "Content-Type": {"application/json"}},
	}
	want := `curl -i 'http://h/v1/x' -H "authorization: Bearer $API_KEY" -H 'content-type: application/json' -H "x-api-key: $API_KEY" -d '{"a":"it'\''s"}'`
	if diff := cmp.Diff(want, x.Curl()); diff != "" {
		t.Error(diff)
	}
}
