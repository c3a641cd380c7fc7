package upstream

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/budget"
)

// TestRepliesTogether has replies of every kind that are larger than what there
// is for all, and holds that everything is given back.
func TestRepliesTogether(t *testing.T) {
	const all = 300_000
	long := strings.Repeat("x", all/2)
	tokens := strings.TrimSuffix(strings.Repeat(`{"token":"a","logprob":-1},`, 100), ",")
	for _, tt := range []struct {
		name string
		body []string
	}{
		{"a whole reply", []string{`{"choices":[{"index":0,"message":{"content":"` + long + `"},"finish_reason":"stop"}]}`}},
		{"an error that is one value", []string{`{"error":{"message":"` + long + `"}}`}},
		{"a frame", []string{"data: " + says(`"content":"`+long+`"`) + "\n\n"}},
		{"a comment", []string{": " + long + "\n\n"}},
		{"lines of a frame", []string{strings.Repeat("data: "+long[:1000]+"\n", all/2000)}},
		{"arguments", []string{"data: " + call(0, `"id":"call_1","function":{"name":"f","arguments":"{"}`) + "\n\n",
			strings.Repeat("data: "+call(0, `"function":{"arguments":"`+long[:5000]+`"}`)+"\n\n", all/5000+1)}},
		{"tokens without text", []string{strings.Repeat(`data: {"choices":[{"index":0,"delta":{},"logprobs":{"content":[`+tokens+`]}}]}`+"\n\n", 20)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			memory := budget.New(all)
			e, _ := serve(t, Config{Memory: memory}, func(w http.ResponseWriter, _ *http.Request, _ int) {
				for _, piece := range tt.body {
					_, _ = io.WriteString(w, piece)
				}
			})
			req := ask("u")
			req.Logprobs = new(int)
			_, err := gather(t.Context(), e, req)
			if got := coded(t, err); got.Code != engine.CodeOverloaded || got.RetryAfter == 0 {
				t.Errorf("error %v", err)
			}
			if free := memory.Free(); free != all {
				t.Errorf("%d bytes of %d are free again", free, all)
			}
		})
	}
}

// A reply that there is memory for leaves all of it behind.
func TestMemoryIsGivenBack(t *testing.T) {
	memory := budget.New(1 << 20)
	e, _ := serve(t, Config{Memory: memory}, func(w http.ResponseWriter, _ *http.Request, _ int) {
		stream(w, says(`"content":"`+strings.Repeat("x", 100_000)+`"`), end("stop"), done)
	})
	for range 5 {
		if _, err := gather(t.Context(), e, ask("u")); err != nil {
			t.Fatal(err)
		}
	}
	if free := memory.Free(); free != 1<<20 {
		t.Errorf("%d bytes are free", free)
	}
}
