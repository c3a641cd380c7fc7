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
		{"arguments of a call without a name", []string{"data: " + call(0, `"id":"call_1","function":{"arguments":"{"}`) + "\n\n",
			strings.Repeat("data: "+call(0, `"function":{"arguments":"`+long[:5000]+`"}`)+"\n\n", all/5000+1)}},
		{"choices that hold nothing", []string{`{"choices":[` + many(`{}`) + `]}`}},
		{"choices that hold nothing, in a frame", []string{`data: {"choices":[` + many(`{}`) + "]}\n\n"}},
		{"choices that are nothing", []string{`data: {"choices":[` + many(`null`) + "]}\n\n"}},
		{"calls that hold nothing", []string{"data: " + says(`"tool_calls":[`+many(`{}`)+`]`) + "\n\n"}},
		{"parts of a text", []string{"data: " + says(`"content":[`+many(`{}`)+`]`) + "\n\n"}},
		{"tokens that are nothing", []string{`data: {"choices":[{"logprobs":{"content":[` + many(`{}`) + "]}}]}\n\n"}},
		{"members that nobody knows", []string{`{"choices":[],"x":{` + strings.Trim(strings.Repeat(`"":0,`, 1000), ",") + `}}`}},
		{"text that is no UTF-8", []string{"data: " + says(`"content":"`+long[:40_000]+"\xff"+`"`) + "\n\n"}},
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

func many(value string) string { return strings.TrimSuffix(strings.Repeat(value+",", 1000), ",") }

// TestRepliesOfOtherOperations has the same of what is no answer.
func TestRepliesOfOtherOperations(t *testing.T) {
	const all = 300_000
	long := strings.TrimSuffix(strings.Repeat("1,", all/20), ",")
	embed := func(e *Engine) error {
		_, err := e.Embed(t.Context(), &engine.EmbeddingRequest{Model: "m", Inputs: []engine.EmbeddingInput{{Text: "a"}}})
		return err
	}
	draw := func(e *Engine) error {
		_, err := engine.CollectImages(e.GenerateImages(t.Context(), &engine.ImageRequest{Model: "m", Prompt: "p", Choices: 1}))
		return err
	}
	count := func(e *Engine) error {
		_, err := e.Count(t.Context(), &engine.Request{Model: "m", Prompt: &engine.Prompt{Text: "p"}, Choices: 1})
		return err
	}
	generate := func(e *Engine) error {
		_, err := gather(t.Context(), e, ask("u"))
		return err
	}
	for _, tt := range []struct {
		name   string
		do     func(*Engine) error
		status int
		body   string
		want   engine.Code
		text   string // of the error
	}{
		{"numbers", embed, 200, `{"data":[{"embedding":[` + long + `]}]}`, engine.CodeOverloaded, "memory"},
		{"vectors that hold nothing", embed, 200, `{"data":[` + many(`{}`) + "," + many(`{}`) + "," + many(`{}`) + `]}`, engine.CodeEngineCrashed, "invalid reply"},
		{"pictures that hold nothing", draw, 200, `{"data":[` + many(`{}`) + `]}`, engine.CodeOverloaded, "memory"},
		{"tokens that are counted", count, 200, `{"tokens":[` + long + `]}`, engine.CodeOverloaded, "memory"},
		{"an error of many details", generate, 400, `{"message":"Words.","details":[` + many(`{}`) + `]}`, engine.CodeInvalidArgument, "rejected"},
		{"an error of few", generate, 400, `{"message":"Words.","details":[{}]}`, engine.CodeInvalidArgument, "Words."},
		{"an error in the place of a reply", generate, 200, `{"error":{"message":"Words.","type":"invalid_request_error","details":[` + many(`{}`) + `]}}`,
			engine.CodeEngineCrashed, "server failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			memory := budget.New(all)
			e, _ := serve(t, Config{Memory: memory}, func(w http.ResponseWriter, _ *http.Request, _ int) { status(w, tt.status, tt.body) })
			if got := coded(t, tt.do(e)); got.Code != tt.want || !strings.Contains(got.Message, tt.text) {
				t.Errorf("%s: %s, want %s: %s", got.Code, got.Message, tt.want, tt.text)
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
