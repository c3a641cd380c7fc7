package upstream

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/enginetest"
)

// says is a chunk of choice 0; end is one with a reason.
func says(members string) string {
	return `{"choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]}`
}

func end(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const (
	role  = `"role":"assistant","content":null`
	usage = `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}}`
	done  = `[DONE]`
)

// counted are counts without an answer beside them.
func counted(n int) string {
	return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":%d}}`, n)
}

// long: most of it is the table.
func TestStreams(t *testing.T) {
	tests := []struct {
		name    string
		request func(*engine.Request)
		lines   []string
		want    string // events
		code    engine.Code
	}{
		{"text", nil, []string{says(role), says(`"content":"He"`), says(`"content":"llo"`), end("stop"), usage, done},
			`start:0 0.0[text "He" "llo"] 0:end_of_turn done:5,0,3,0`, ""},
		{"comments between", nil, []string{": ping", says(`"content":"a"`), ": ping", end("stop"), ":", done},
			`start:0 0.0[text "a"] 0:end_of_turn done:0,0,0,0`, ""},
		{"no done mark", nil, []string{says(`"content":"a"`), end("length"), usage},
			`start:0 0.0[text "a"] 0:max_tokens done:5,0,3,0`, ""},
		{"no reason", nil, []string{says(`"content":"a"`), done},
			`start:0 0.0[text "a"] 0:end_of_turn done:0,0,0,0`, ""},
		{"nothing said", nil, []string{says(role), end("stop"), done}, `start:0 0:end_of_turn done:0,0,0,0`, ""},
		{"llama-server tells its progress", nil, []string{
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}],"prompt_progress":{"total":5,"cache":2}}`,
			says(`"content":"a"`), end("stop"),
			`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":2}}}`, done},
			`start:5 0.0[text "a"] 0:end_of_turn done:5,2,1,0`, ""},
		{"vLLM counts in each chunk", nil, []string{
			`{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
			`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":1}}}`, done},
			`start:5 0.0[text "a"] 0:end_of_turn done:5,0,2,1`, ""},
		{"impossible counts", nil, []string{says(`"content":"a"`), end("stop"),
			`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9},"completion_tokens_details":{"reasoning_tokens":9}}}`, done},
			`start:0 0.0[text "a"] 0:end_of_turn done:5,5,1,1`, ""},
		{"llama-server counts each choice", func(r *engine.Request) { r.Choices = 2 }, []string{
			`{"choices":[{"index":1,"delta":{"content":"b"}}]}`, says(`"content":"a"`),
			`{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`, usage, end("length"), usage, done},
			`start:0 1.0[text "b" 0.0[text "a"] 1:end_of_turn] 0:max_tokens done:5,0,6,0`, ""},
		{"sums so far, and once more", nil, []string{counted(1), says(`"content":"a"`), counted(2), end("stop"), counted(3), counted(3), done},
			`start:5 0.0[text "a"] 0:end_of_turn done:5,0,3,0`, ""},
		{"sums that end before the answer", nil, []string{says(`"content":"a"`), counted(2), counted(3), end("stop"), done},
			`start:0 0.0[text "a"] 0:end_of_turn done:5,0,3,0`, ""},
		{"one count of two answers, twice", func(r *engine.Request) { r.Choices = 2 }, []string{
			`{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}`, says(`"content":"a"`), end("stop"), counted(6), counted(6), done},
			`start:0 1.0[text "b"] 1:end_of_turn 0.0[text "a"] 0:end_of_turn done:5,0,6,0`, ""},
		{"each choice by itself, twice", func(r *engine.Request) { r.Choices = 2 }, []string{
			`{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}`, counted(2), counted(2), says(`"content":"a"`), end("stop"), counted(4), counted(4), done},
			`start:0 1.0[text "b"] 1:end_of_turn 0.0[text "a"] 0:end_of_turn done:5,0,6,0`, ""},
		{"thoughts", nil, []string{says(`"reasoning_content":"hm"`), says(`"reasoning_content":"m"`), says(`"content":"a"`), end("stop"), done},
			`start:0 0.0[reasoning "hm" "m"] 0.1[text "a"] 0:end_of_turn done:0,0,0,0`, ""},
		{"thoughts under both names", nil, []string{says(`"reasoning":"hm","reasoning_content":"hm"`), says(`"reasoning":"m","content":"a"`), end("stop"), done},
			`start:0 0.0[reasoning "hm" "m"] 0.1[text "a"] 0:end_of_turn done:0,0,0,0`, ""},
		{"thoughts inside each other", nil, []string{
			says(`"content":` + strings.Repeat(`[{"thinking":`, 3000) + `"hm"` + strings.Repeat(`}]`, 3000)), says(`"content":"a"`), end("stop"), done},
			`start:0 0.0[text "a"] 0:end_of_turn done:0,0,0,0`, ""},
		{"Mistral's thoughts", nil, []string{says(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`),
			says(`"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`), end("stop"), done},
			`start:0 0.0[reasoning "hm"] 0.1[text "ab"] 0:end_of_turn done:0,0,0,0`, ""},
		{"a refusal is text", nil, []string{says(`"refusal":"no"`), end("stop"), done},
			`start:0 0.0[text "no"] 0:end_of_turn done:0,0,0,0`, ""},
		{"vLLM names the stop string", func(r *engine.Request) { r.Stop = []string{"###"} }, []string{says(`"content":"a"`),
			`{"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":"###"}]}`, done},
			`start:0 0.0[text "a"] 0:stop_sequence### done:0,0,0,0`, ""},
		{"vLLM names a stop token", func(r *engine.Request) { r.Stop = []string{"###"} }, []string{says(`"content":"a"`),
			`{"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":128009}]}`, done},
			`start:0 0.0[text "a"] 0:end_of_turn done:0,0,0,0`, ""},
		{"an end that is told twice", nil, []string{says(`"content":"a"`), end("stop"), end("stop"), done},
			`start:0 0.0[text "a"] 0:end_of_turn done:0,0,0,0`, ""},

		{"an error instead", nil, []string{`{"error":{"message":"boom","code":500}}`}, ``, engine.CodeEngineCrashed},
		{"an error under way", nil, []string{says(`"content":"a"`), `{"error":{"message":"boom"}}`},
			`start:0 0.0[text "a"`, engine.CodeEngineCrashed},
		{"an error by name", nil, []string{says(`"content":"a"`), `event: error` + "\n" + `data: {"message":"boom"}`},
			`start:0 0.0[text "a"`, engine.CodeEngineCrashed},
		{"an error of older llama-server", nil, []string{says(`"content":"a"`), `error: {"code":500,"message":"boom"}`},
			`start:0 0.0[text "a"`, engine.CodeEngineCrashed},
		{"a context that is full", nil, []string{`{"error":{"message":"request (50 tokens) exceeds the available context size (20 tokens)","type":"exceed_context_size_error","n_prompt_tokens":50,"n_ctx":20}}`},
			``, engine.CodeContextLength},
		{"cut", nil, []string{says(`"content":"a"`)}, `start:0 0.0[text "a"`, engine.CodeEngineCrashed},
		{"nothing at all", nil, nil, ``, engine.CodeEngineCrashed},
		{"a mark alone", nil, []string{done}, ``, engine.CodeEngineCrashed},
		{"no JSON", nil, []string{`oops`}, ``, engine.CodeEngineCrashed},
		{"a choice too many", nil, []string{`{"choices":[{"index":1,"delta":{"content":"a"}}]}`}, `start:0`, engine.CodeEngineCrashed},
		{"too few choices", func(r *engine.Request) { r.Choices = 2 }, []string{says(`"content":"a"`), end("stop"), usage, done},
			`start:0 0.0[text "a"] 0:end_of_turn`, engine.CodeUnsupported},
		{"text after the end", nil, []string{end("stop"), says(`"content":"a"`), done}, `start:0 0:end_of_turn`, engine.CodeEngineCrashed},
		{"no call where one is required", func(r *engine.Request) {
			r.Tools, r.ToolChoice.Mode = []engine.Tool{{Name: "f"}}, engine.ToolRequired
		}, []string{says(`"content":"a"`), end("stop"), done}, `start:0 0.0[text "a"]`, engine.CodeUnsupported},
		{"filtered", nil, []string{says(`"content":"a"`), end("content_filter"), done}, `start:0 0.0[text "a"]`, engine.CodeUnsupported},
		{"aborted", nil, []string{says(`"content":"a"`), end("abort"), done}, `start:0 0.0[text "a"]`, engine.CodeEngineCrashed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) { stream(w, tt.lines...) })
			req := ask("u")
			if tt.request != nil {
				tt.request(req)
			}
			checkReply(t, e, req, tt.want, tt.code)
		})
	}
}

func checkReply(t *testing.T, e *Engine, req *engine.Request, want string, code engine.Code) {
	t.Helper()
	events, err := gather(t.Context(), e, req)
	if diff := cmp.Diff(want, show(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if code != "" {
		if got := coded(t, err); got.Code != code {
			t.Errorf("error %v, want %s", err, code)
		} else if strings.Contains(got.Message, "boom") {
			t.Errorf("the message %q is the server's own", got.Message)
		}
		return
	}
	if err == nil {
		err = enginetest.Check(events)
	}
	if err != nil {
		t.Error(err)
	}
}

// A server that finds no end is not listened to for ever.
func TestEndlessStream(t *testing.T) {
	e, _ := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
		for r.Context().Err() == nil {
			stream(w, says(`"content":"`+strings.Repeat("x", 1000)+`"`))
		}
	})
	e.maxStream = 20_000
	events, err := gather(t.Context(), e, ask("x"))
	if got := coded(t, err); got.Code != engine.CodeEngineCrashed || len(events) > 25 {
		t.Errorf("%d events and the error %v", len(events), err)
	}
}

func call(index int, members string) string {
	return says(fmt.Sprintf(`"tool_calls":[{"index":%d,%s}]`, index, members))
}

// TestIllegalNames has calls that not every style can tell as they are.
func TestIllegalNames(t *testing.T) {
	for _, name := range []string{"a b", "a\\nb", "a.b", "\\u0000", "é", strings.Repeat("x", 129)} {
		t.Run(name, func(t *testing.T) {
			e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
				stream(w, call(0, `"id":"call_1","function":{"name":"`+name+`","arguments":"{}"}`), end("tool_calls"), done)
			})
			checkReply(t, e, ask("u"), `start:0`, engine.CodeEngineCrashed)
		})
	}
	legal := regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	seen := map[string]bool{}
	for _, id := range []string{"call_1", "a b", "a.b", "é", "\x00", "call_\n", strings.Repeat("x", maxID+1), strings.Repeat("y", maxID+1)} {
		got := legalID(id)
		if !legal.MatchString(got) || len(got) > maxID || seen[got] {
			t.Errorf("%q becomes %q", id, got)
		}
		seen[got] = true
	}
}

func TestTooManyCalls(t *testing.T) {
	lines := []string{}
	for i := range maxCalls + 1 {
		lines = append(lines, call(i, `"function":{"name":"f","arguments":"{}"}`))
	}
	lines = append(lines, end("tool_calls"), done)
	e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) { stream(w, lines...) })
	if _, err := gather(t.Context(), e, ask("u")); coded(t, err).Code != engine.CodeEngineCrashed {
		t.Error(err)
	}
}

func TestCalls(t *testing.T) {
	const none = ` done:0,0,0,0`
	tests := []struct {
		name  string
		lines []string
		want  string
		code  engine.Code
	}{
		{"in pieces", []string{call(0, `"id":"call_1","type":"function","function":{"name":"f","arguments":""}`),
			call(0, `"function":{"arguments":"{\"a\""}`), call(0, `"function":{"arguments":":1}"}`), end("tool_calls"), done},
			`start:0 0.0[tool_call 1=f {"a" :1}] 0:tool_calls` + none, ""},
		{"two", []string{call(0, `"id":"call_1","function":{"name":"f","arguments":"{}"}`),
			call(1, `"id":"call_2","function":{"name":"g","arguments":"{}"}`), end("tool_calls"), done},
			`start:0 0.0[tool_call 1=f {}] 0.1[tool_call 2=g {}] 0:tool_calls` + none, ""},
		{"two in one chunk, with the reason", []string{`{"choices":[{"index":0,"delta":{"content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, done},
			`start:0 0.0[tool_call a=f {}] 0.1[tool_call b=f {}] 0:tool_calls` + none, ""},
		{"all counted as 0", []string{call(0, `"id":"a","function":{"name":"f","arguments":"{}"}`),
			call(0, `"id":"b","function":{"name":"g","arguments":"{}"}`), end("tool_calls"), done},
			`start:0 0.0[tool_call a=f {}] 0.1[tool_call b=g {}] 0:tool_calls` + none, ""},
		{"no counts and no ids", []string{says(`"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}}]`), end("stop"), done},
			`start:0 0.0[tool_call made=f {}] 0.1[tool_call made=g {}] 0:tool_calls` + none, ""},
		{"the name again in each piece", []string{call(0, `"id":"a","function":{"name":"f","arguments":"{\"a\":"}`),
			call(0, `"id":"a","function":{"name":"f","arguments":"1}"}`), end("tool_calls"), done},
			`start:0 0.0[tool_call a=f {"a": 1}] 0:tool_calls` + none, ""},
		{"the name again, without ids", []string{call(0, `"function":{"name":"f","arguments":"{\"a\":"}`),
			call(0, `"function":{"name":"f","arguments":"1}"}`), end("tool_calls"), done},
			`start:0 0.0[tool_call made=f {"a": 1}] 0:tool_calls` + none, ""},
		{"the name after the id", []string{call(0, `"id":"a"`), call(0, `"function":{"arguments":"{"}`), call(0, `"function":{"name":"f"}`),
			call(0, `"function":{"arguments":"}"}`), end("tool_calls"), done},
			`start:0 0.0[tool_call a=f { }] 0:tool_calls` + none, ""},
		{"the same id twice", []string{call(0, `"id":"a","function":{"name":"f","arguments":"{}"}`),
			call(1, `"id":"a","function":{"name":"g","arguments":"{}"}`), end("tool_calls"), done},
			`start:0 0.0[tool_call a=f {}] 0.1[tool_call made=g {}] 0:tool_calls` + none, ""},
		{"arguments that are no text", []string{call(0, `"id":"a","function":{"name":"f","arguments":{"a": 1}}`), end("tool_calls"), done},
			`start:0 0.0[tool_call a=f {"a": 1}] 0:tool_calls` + none, ""},
		{"no arguments", []string{call(0, `"id":"a","function":{"name":"f"}`), end("tool_calls"), done},
			`start:0 0.0[tool_call a=f {}] 0:tool_calls` + none, ""},
		{"no arguments, in other words", []string{call(0, `"id":"a","function":{"name":"f","arguments":" "}`), call(1, `"id":"b","function":{"name":"f","arguments":"null"}`),
			call(2, `"id":"c","function":{"name":"f","arguments":null}`), says(`"content":"ok"`), end("stop"), done},
			`start:0 0.0[tool_call a=f {}] 0.1[tool_call b=f {}] 0.2[tool_call c=f {}] 0.3[text "ok"] 0:tool_calls` + none, ""},
		{"arguments behind a blank", []string{call(0, `"id":"a","function":{"name":"f","arguments":""}`), call(0, `"function":{"arguments":" "}`),
			call(0, `"function":{"arguments":"{ "}`), call(0, `"function":{"arguments":" "}`), call(0, `"function":{"arguments":"}"}`), end("tool_calls"), done},
			`start:0 0.0[tool_call a=f {    }] 0:tool_calls` + none, ""},
		{"cut before the arguments", []string{call(0, `"id":"a","function":{"name":"f","arguments":""}`), end("length"), done},
			`start:0 0.0[tool_call a=f] 0:max_tokens` + none, ""},
		{"thoughts and words before", []string{says(`"reasoning":"hm"`), says(`"content":"ok"`), call(0, `"id":"a","function":{"name":"f","arguments":"{}"}`), end("tool_calls"), done},
			`start:0 0.0[reasoning "hm"] 0.1[text "ok"] 0.2[tool_call a=f {}] 0:tool_calls` + none, ""},
		{"words after", []string{call(0, `"id":"a","function":{"name":"f","arguments":"{}"}`), says(`"content":"ok"`), end("stop"), done},
			`start:0 0.0[tool_call a=f {}] 0.1[text "ok"] 0:tool_calls` + none, ""},
		{"cut by the limit", []string{call(0, `"id":"a","function":{"name":"f","arguments":"{\"a"}`), end("length"), done},
			`start:0 0.0[tool_call a=f {"a] 0:max_tokens` + none, ""},
		{"a reason without a call", []string{says(`"content":"a"`), end("tool_calls"), done}, `start:0 0.0[text "a"] 0:end_of_turn` + none, ""},

		{"mixed", []string{call(0, `"id":"a","function":{"name":"f","arguments":"{"}`), call(1, `"id":"b","function":{"name":"g","arguments":"{"}`),
			call(0, `"function":{"arguments":"}"}`)}, `start:0 0.0[tool_call a=f {] 0.1[tool_call b=g {`, engine.CodeEngineCrashed},
		{"pieces after words", []string{call(0, `"id":"a","function":{"name":"f","arguments":"{"}`), says(`"content":"ok"`),
			call(0, `"function":{"arguments":"}"}`)}, `start:0 0.0[tool_call a=f {] 0.1[text "ok"`, engine.CodeEngineCrashed},
		{"no name", []string{call(0, `"id":"a","function":{"arguments":"{}"}`), end("tool_calls"), done}, `start:0`, engine.CodeEngineCrashed},
		{"no name, and another", []string{call(0, `"id":"a"`), call(1, `"id":"b","function":{"name":"f"}`)}, `start:0`, engine.CodeEngineCrashed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) { stream(w, tt.lines...) })
			checkReply(t, e, ask("u"), tt.want, tt.code)
		})
	}
}

// TestWholeReplies is about servers that do not stream.
func TestWholeReplies(t *testing.T) {
	tests := []struct {
		name, body string
		want       string
		code       engine.Code
	}{
		{"text and thoughts", `{"choices":[{"index":0,"message":{"role":"assistant","content":"a","reasoning_content":"hm"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
			`start:5 0.0[reasoning "hm"] 0.1[text "a"] 0:end_of_turn done:5,0,2,0`, ""},
		{"calls, which have no index there", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
			`start:0 0.0[tool_call a=f {}] 0.1[tool_call b=g {}] 0:tool_calls done:0,0,0,0`, ""},
		{"an error with status 200", `{"error":{"message":"boom"}}`, ``, engine.CodeEngineCrashed},
		{"an error of the answer", `{"choices":[{"index":0,"message":{"content":"half"},"finish_reason":"stop","error":{"code":429,"message":"slow down"}}]}`, `start:0`, engine.CodeOverloaded},
		{"the end of Mistral's context", `{"choices":[{"message":{"content":"a"},"finish_reason":"model_length"}]}`, `start:0 0.0[text "a"] 0:max_tokens done:0,0,0,0`, ""},
		{"no answer", `{"choices":[]}`, `start:0`, engine.CodeEngineCrashed},
		{"half", `{"choices":[{"mess`, ``, engine.CodeEngineCrashed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) { status(w, 200, tt.body) })
			checkReply(t, e, ask("u"), tt.want, tt.code)
		})
	}
}

// FuzzReply feeds a stream of any bytes: it ends as the grammar of events has
// it, or with an error.
func FuzzReply(f *testing.F) {
	for _, lines := range [][]string{
		{says(role), says(`"content":"a"`), end("stop"), usage, done},
		{call(0, `"id":"a","function":{"name":"f","arguments":"{}"}`), call(0, `"id":"b","function":{"name":"g"}`), end("tool_calls"), done},
		{`{"choices":[{"index":0,"text":"a","logprobs":{"tokens":["a"],"token_logprobs":[null],"top_logprobs":[{}]},"finish_reason":"length"}]}`, done},
	} {
		f.Add("data: " + strings.Join(lines, "\n\ndata: ") + "\n\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		req := ask("u")
		req.Logprobs = new(1)
		var events []engine.Event
		r := readerReply(t, text)
		if told, ok := r.open(); !ok {
			if told.status == 0 {
				t.Error("an error without a status")
			}
			return
		}
		teller := newConverter(req, engine.Start{}, func(e engine.Event) error {
			events = append(events, e)
			return nil
		})
		read := teller.stream
		if r.whole() {
			read = teller.whole
		}
		err := read(r)
		if err != nil {
			coded(t, err)
			return
		}
		if err := enginetest.Check(events); err != nil {
			t.Errorf("%v: %s", err, show(events))
		}
	})
}
