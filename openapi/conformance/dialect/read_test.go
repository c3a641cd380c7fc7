package dialect

import (
	"net/http"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi/conformance"
)

// FuzzRead holds that no reply, plain or streamed, breaks what reads it: scenarios read in
// many goroutines.
func FuzzRead(f *testing.F) {
	for _, body := range []string{
		`null`, `[]`, `{}`, `{"choices":[{"index":-1,"message":{"tool_calls":[{}]}}]}`, `{"choices":[{"logprobs":{"tokens":[1],"top_logprobs":[{"a":"b"}]}}]}`,
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":2000000000}]}}]}\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":-7,\"delta\":{}}\n\n",
		"data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"function_call\"}]}}\n\ndata: null\n\n",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, d := range All() {
			for _, mediaType := range []string{"application/json", "text/event-stream"} {
				x := &conformance.Exchange{Status: 200, Header: http.Header{"Content-Type": {mediaType}}, Body: []byte(body)}
				if a, err := d.Read(x); a == nil || err == nil && len(a.First().Calls) > len(body) {
					t.Errorf("%s as %s: %v, %d calls", d.Name, mediaType, err, len(a.First().Calls))
				}
			}
		}
	})
}

// TestVastIndex refuses to make room for as many calls as a server says there are.
func TestVastIndex(t *testing.T) {
	event := `data: {"choices":[{"delta":{"tool_calls":[{"index":256}]}}]}` + "\n\n"
	x := &conformance.Exchange{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: []byte(event)}
	if _, err := Chat().Read(x); err == nil || !strings.Contains(err.Error(), "index 256") {
		t.Errorf("error %v", err)
	}
}
