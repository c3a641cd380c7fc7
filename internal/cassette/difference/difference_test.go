package difference_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/internal/cassette/difference"
)

const (
	chat = `{"id":"chatcmpl-1","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant",` +
		`"content":"Hello","refusal":null},"finish_reason":"stop","logprobs":null}],"usage":{"prompt_tokens":6,"completion_tokens":4,` +
		`"prompt_tokens_details":{"cached_tokens":0}}}`
	failure = `{"error":{"message":"No model x","type":"invalid_request_error","param":"model","code":"model_not_found"}}`
	stream  = `data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`
	messages = `{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}`
	named    = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":3}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}

event: message_stop
data: {"type":"message_stop"}

`
)

// exchange is one reply to the same request.
func exchange(status int, kind, body string) cassette.Interaction {
	return cassette.Interaction{
		Request:  cassette.Request{Method: "POST", URL: "/v1/x?beta=true", Body: `{"a":1}`},
		Response: cassette.Response{Code: status, Headers: http.Header{"Content-Type": {kind}}, Body: body},
	}
}

// TestSingleDifferences changes one thing of a reply.
func TestSingleDifferences(t *testing.T) {
	for _, tt := range []struct {
		name      string
		body      string
		old, new  string // in body
		want      string // place: words; empty: no difference
		otherwise func(*cassette.Response)
	}{
		{name: "nothing", body: chat},
		{name: "the order of fields", body: chat, old: `"id":"chatcmpl-1","object":"chat.completion"`, new: `"object":"chat.completion","id":"chatcmpl-1"`},
		{name: "an id", body: chat, old: "chatcmpl-1", new: "chatcmpl-abc"},
		{name: "a time", body: chat, old: `"created":0`, new: `"created":17`},
		{name: "what the model says", body: chat, old: "Hello", new: "Good morning"},
		{name: "a count", body: chat, old: `"completion_tokens":4`, new: `"completion_tokens":9`},
		{name: "a count of zero", body: chat, old: `"completion_tokens":4`, new: `"completion_tokens":0`, want: "usage.completion_tokens: 0, not more than 0"},
		{name: "a missing field", body: chat, old: `,"refusal":null`, want: "choices[].message.refusal: missing"},
		{name: "a missing object", body: chat, old: `,"prompt_tokens_details":{"cached_tokens":0}`, want: "usage.prompt_tokens_details: missing"},
		{name: "an added object", body: chat, old: `"usage"`, new: `"timings":{"prompt_n":1},"usage"`, want: "timings: added"},
		{name: "a type", body: chat, old: `"refusal":null`, new: `"refusal":""`, want: "choices[].message.refusal: string, not null"},
		{name: "a number as a string", body: chat, old: `"created":0`, new: `"created":"0"`, want: "created: string, not number"},
		{name: "a word", body: chat, old: `"stop"`, new: `"length"`, want: "choices[].finish_reason: length, not stop"},
		{name: "an index", body: chat, old: `"index":0`, new: `"index":1`, want: "choices[].index: 1, not 0"},
		{name: "a model", body: chat, old: `"model":"m"`, new: `"model":"n"`, want: "model: n, not m"},
		{name: "one choice more", body: chat, old: `"choices":[`, new: `"choices":[{"index":0,"message":{"role":"assistant","content":"Hello","refusal":null},"finish_reason":"stop","logprobs":null},`, want: "choices: 2 items, not 1 items"},
		{name: "the type of an error", body: failure, old: "invalid_request_error", new: "not_found_error", want: "error.type: not_found_error, not invalid_request_error"},
		{name: "the words of an error", body: failure, old: "No model x", new: "x was not found"},
		{name: "an error without its envelope", body: failure, new: `{"message":"No model x"}`, want: "error: missing|message: added"},
		{name: "the order of blocks", body: messages, old: `{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Hello"}`, new: `{"type":"text","text":"Hello"},{"type":"thinking","thinking":"Hm"}`, want: "content: order text, thinking, not order thinking, text"},
		{name: "a missing block", body: messages, old: `{"type":"thinking","thinking":"Hm"},`, want: "content[thinking]: missing"},
		{name: "one piece more", body: stream, old: `data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}`, new: `data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"H"},"finish_reason":null}]}` + "\n\n" + `data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"el"},"finish_reason":null}]}`},
		{name: "a comment", body: stream, old: "data: [DONE]", new: ": ping\n\ndata: [DONE]"},
		{name: "no last event", body: stream, old: "data: [DONE]\n\n", want: "events role > content > finish_reason, not role > content > finish_reason > [DONE]"},
		{name: "no blank line at the end", body: stream, old: "[DONE]\n\n", new: "[DONE]\n", want: "no blank line at the end, not a blank line at the end"},
		{name: "the role in each chunk", body: stream, old: `"delta":{"content"`, new: `"delta":{"role":"assistant","content"`, want: "events role > role+content > finish_reason > [DONE], not role > content > finish_reason > [DONE]"},
		{name: "a field of chunks", body: stream, old: `{"id":"chatcmpl-1",`, new: `{`, want: "chunk: id: missing"},
		{name: "a field of some chunks", body: stream, old: `"finish_reason":"stop"}]}`, new: `"finish_reason":"stop"}],"usage":null}`, want: "chunk: usage: added"},
		{name: "a field of all chunks in some", body: stream, old: `"delta":{},"finish_reason":"stop"`, new: `"finish_reason":"stop"`, want: "chunk: choices[].delta: only in some, not always"},
		{name: "the order of events", body: named, old: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n", want: "events message_start > message_stop, not message_start > content_block_delta > message_stop"},
		{name: "a field of an event", body: named, old: `,"usage":{"input_tokens":3}`, want: "message_start: message.usage: missing"},
		{name: "another status", body: failure, otherwise: func(r *cassette.Response) { r.Code = 404 }, want: "status: 404, not 400"},
		{name: "a success", body: failure, new: chat, otherwise: func(r *cassette.Response) { r.Code = 200 }, want: "status: 200, not 400"},
		{name: "a header", body: chat, otherwise: func(r *cassette.Response) { r.Headers.Set("Retry-After", "1") }, want: "Retry-After: header added"},
		{name: "a charset", body: chat, otherwise: func(r *cassette.Response) { r.Headers.Set("Content-Type", "application/json; charset=utf-8") }},
		{name: "another form", body: failure, new: "no model", otherwise: func(r *cassette.Response) { r.Headers.Set("Content-Type", "text/plain") }, want: "Content-Type: text/plain, not application/json|text, not JSON"},
		{name: "broken off", body: stream, otherwise: func(r *cassette.Response) { r.Aborted = true }, want: "the reply breaks off"},
	} {
		status, kind := 200, "application/json"
		switch tt.body {
		case failure:
			status = 400
		case stream, named:
			kind = "text/event-stream"
		}
		changed := strings.ReplaceAll(tt.body, tt.old, tt.new)
		if tt.old == "" && tt.new != "" {
			changed = tt.new
		}
		if tt.old != "" && changed == tt.body {
			t.Errorf("%s: nothing was changed", tt.name)
		}
		a, b := exchange(status, kind, tt.body), exchange(status, kind, changed)
		if tt.otherwise != nil {
			tt.otherwise(&b.Response)
		}
		got := difference.Compare(
			[]cassette.Cassette{{Name: "case", Interactions: []cassette.Interaction{a}}},
			[]cassette.Cassette{{Name: "other", Interactions: []cassette.Interaction{b}}})
		if said := words(got); said != tt.want || (got.Same == 1) != (tt.want == "") {
			t.Errorf("%s: %d of %d are the same\ngot  %s\nwant %s", tt.name, got.Same, got.Cases, said, tt.want)
		}
	}
}

func words(c difference.Comparison) string {
	var all []string
	for _, d := range c.Differences {
		all = append(all, strings.TrimPrefix(d.Place()+": "+d.Text, ": "))
	}
	slices.Sort(all)
	return strings.Join(all, "|")
}

// TestCases compares whole recordings: the same difference of many cases is one.
func TestCases(t *testing.T) {
	good, bad := exchange(200, "application/json", chat), exchange(200, "application/json", strings.Replace(chat, `,"refusal":null`, "", 1))
	second := good
	second.Request.Body = `{"a":2}`
	before := []cassette.Cassette{
		{Name: "a", Interactions: []cassette.Interaction{good}},
		{Name: "b", Interactions: []cassette.Interaction{good, second}},
		{Name: "c", Interactions: []cassette.Interaction{good, second}},
		{Name: "d", Interactions: []cassette.Interaction{good}},
	}
	now := []cassette.Cassette{
		{Name: "a", Interactions: []cassette.Interaction{bad}},
		{Name: "b", Interactions: []cassette.Interaction{second, bad}}, // in another order
		{Name: "c", Interactions: []cassette.Interaction{good}},
		{Name: "e", Interactions: []cassette.Interaction{good}},
	}
	want := difference.Comparison{Cases: 3, Same: 0, Differences: []difference.Difference{
		{Kind: difference.Absent, Text: "the case is added", Cases: []string{"e"}},
		{Kind: difference.Absent, Text: "the case is missing", Cases: []string{"d"}},
		{Operation: "POST /v1/x", Kind: difference.Missing, Path: "choices[].message.refusal", Text: "missing", Cases: []string{"a", "b"}},
		{Operation: "POST /v1/x", Kind: difference.Absent, Text: "a request is missing", Cases: []string{"c"}},
	}}
	got := difference.Compare(before, now)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	rest := got.Without([]*regexp.Regexp{regexp.MustCompile(`refusal$`)})
	if rest.Same != 2 || len(rest.Differences) != 3 || len(got.Differences) != 4 {
		t.Errorf("without one: %v", rest)
	}
}

// TestPairs holds that a request without an equal one takes no other's.
func TestPairs(t *testing.T) {
	ask := func(request, reply string) cassette.Interaction {
		i := exchange(200, "application/json", `{"`+reply+`":1}`)
		i.Request.Body = request
		return i
	}
	before := []cassette.Cassette{{Name: "c", Interactions: []cassette.Interaction{ask("1", "x"), ask("2", "y"), ask("3", "z")}}}
	now := []cassette.Cassette{{Name: "c", Interactions: []cassette.Interaction{ask("2", "y"), ask("9", "x"), ask("3", "z")}}}
	if got := difference.Compare(before, now); len(got.Differences) > 0 {
		t.Errorf("differences %+v", got.Differences)
	}
}
