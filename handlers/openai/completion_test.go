package openai

import (
	"encoding/json"
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/openapi"
)

// bindCompletion is what the generated code and the operation do with a
// checked body.
func bindCompletion(body []byte) (*engine.Request, error) {
	var in wire.CreateCompletionRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req, err := toCompletionRequest(&in)
	return handlerstest.Checked(req, err, fromPlace)
}

const completionBody = `{"model":"m","prompt":["p"],"suffix":"s","echo":true,"n":2,"best_of":3,"logprobs":1,"stop":["x"],"logit_bias":{"1":1}}`

func FuzzToCompletionRequest(f *testing.F) {
	handlerstest.FuzzRequest(f, openapi.OpenAI, "createCompletion", []byte(completionBody), bindCompletion)
}

func TestCompletionRequests(t *testing.T) {
	const prompt = `"prompt":"p"`
	tests := []handlerstest.Mapping{
		{Name: "the least", Body: prompt},
		{Name: "nothing to continue", Body: `"prompt":""`, Want: engine.Request{Prompt: &engine.Prompt{}}},
		{Name: "a list of one text", Body: `"prompt":["p"]`},
		{Name: "a list of one empty text", Body: `"prompt":[""]`, Want: engine.Request{Prompt: &engine.Prompt{}}},
		{Name: "around a gap, echoed", Body: prompt + `,"suffix":"s","echo":true`, Want: engine.Request{Prompt: &engine.Prompt{Text: "p", Suffix: "s", Echo: true}}},
		{Name: "an empty suffix is none", Body: prompt + `,"suffix":""`},
		{Name: "zero is a value", Body: prompt + `,"temperature":0,"top_p":0,"seed":0,"frequency_penalty":0,"presence_penalty":0,"max_tokens":0,"logprobs":0`,
			Want: engine.Request{Sampling: engine.Sampling{Temperature: new(0.0), TopP: new(0.0), Seed: new(int64(0)), FrequencyPenalty: new(0.0), PresencePenalty: new(0.0)}, MaxTokens: new(0), Logprobs: new(0)}},
		{Name: "null is none", Body: prompt + `,"best_of":null,"echo":null,"logprobs":null,"suffix":null,"n":null,"stop":null,"seed":null,"stream":null,"max_tokens":null,"logit_bias":null,"response_format":null,"temperature":null`},
		{Name: "logprobs", Body: prompt + `,"logprobs":5`, Want: engine.Request{Logprobs: new(5)}},
		{Name: "parameters of local servers", Body: prompt + `,"top_k":3,"min_p":0.1,"repeat_penalty":0`,
			Want: engine.Request{Sampling: engine.Sampling{TopK: new(3), MinP: new(0.1), RepeatPenalty: new(0.0)}}},
		{Name: "biases", Body: prompt + `,"logit_bias":{"11":-100}`, Want: engine.Request{Sampling: engine.Sampling{LogitBias: map[int]float64{11: -100}}}},
		{Name: "stop strings", Body: prompt + `,"stop":["END","STOP"]`, Want: engine.Request{Stop: []string{"END", "STOP"}}},
		{Name: "JSON", Body: prompt + `,"response_format":{"type":"json_object"}`, Want: engine.Request{Format: engine.Format{Kind: engine.FormatJSON}}},
		{Name: "the best of three", Body: prompt + `,"n":2,"best_of":3`, Want: engine.Request{Choices: 2, BestOf: 3}},
		{Name: "the best of as many", Body: prompt + `,"n":2,"best_of":2,"stream":true`, Want: engine.Request{Choices: 2, BestOf: 2}},
		{Name: "the best of too few", Body: prompt + `,"n":3,"best_of":2`, Param: "best_of"},
		{Name: "the best, streamed", Body: prompt + `,"best_of":2,"stream":true`, Param: "best_of"},
	}
	for i := range tests {
		tests[i].Body = `{"model":"m",` + tests[i].Body + "}"
		want := &tests[i].Want
		want.Model, want.Choices = "m", max(want.Choices, 1)
		if want.Prompt == nil {
			want.Prompt = &engine.Prompt{Text: "p"}
		}
	}
	handlerstest.CheckMappings(t, openapi.OpenAI, "createCompletion", bindCompletion, tests)
}

// completionReplies are the answers that a raw prompt can have, of those that
// all styles share, and an echoed prompt.
func completionReplies() []handlerstest.Reply {
	unknown := engine.TokenLogprob{Token: []byte("On"), Logprob: math.NaN()}
	token := func(bytes string) engine.TokenLogprob {
		return engine.TokenLogprob{Token: []byte(bytes), Logprob: -0.5, Top: []engine.TokenLogprob{{Token: []byte("other"), Logprob: -0.25}, {Token: []byte(bytes), Logprob: -0.5}}}
	}
	all := []handlerstest.Reply{{
		Name:    "echo_with_logprobs",
		Request: engine.Request{Choices: 1, Logprobs: new(2)},
		Events: []engine.Event{
			engine.Start{PromptTokens: 2},
			engine.BlockStart{Kind: engine.BlockText},
			engine.TextDelta{Text: "On ✓", Logprobs: []engine.TokenLogprob{unknown, token(" \xe2"), token("\x9c\x93")}},
			engine.TextDelta{Text: " a 👍", Logprobs: []engine.TokenLogprob{token(" a"), token(" 👍")}},
			engine.TextDelta{Text: ".", Logprobs: []engine.TokenLogprob{token(".")}},
			engine.BlockStop{},
			engine.Finish{Reason: engine.FinishMaxTokens},
			engine.Done{Usage: engine.Usage{PromptTokens: 2, CompletionTokens: 3}},
		},
	}}
	for _, r := range handlerstest.Replies() {
		switch r.Name {
		case "text", "nothing", "stop_sequence", "two_choices_with_logprobs":
			all = append(all, r)
		}
	}
	return all
}

func TestCompletionReplies(t *testing.T) {
	h := head{id: "cmpl-1", created: 1_700_000_000, model: "m"}
	for _, r := range completionReplies() {
		t.Run(r.Name, func(t *testing.T) {
			var stream strings.Builder
			encoder := newCompletionEncoder(h, &r.Request, true, &exchange.Exchange{})
			for _, event := range r.Events {
				for _, f := range encoder.Encode(event) {
					stream.Write(f.Append(nil))
				}
			}
			handlerstest.Golden(t, update, "completion/"+r.Name+".stream.txt", stream.String())

			response, err := engine.Collect((&handlerstest.Engine{Events: r.Events}).Generate(t.Context(), &r.Request))
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			reply := answer{&exchange.Exchange{}, fromCompletion(h, response, r.Request.Logprobs != nil)}
			if err := reply.VisitCreateCompletionResponse(w); err != nil {
				t.Fatal(err)
			}
			handlerstest.Golden(t, update, "completion/"+r.Name+".json", w.Body.String())
		})
	}
}

func TestFromTokens(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tokens  []string
		written []string
		offsets []int
	}{
		{"characters count, not bytes", []string{"é", "✓", "👍", "!"}, []string{"é", "✓", "👍", "!"}, []int{0, 1, 2, 3}},
		{"inside a character", []string{"a", "\xf0\x9f", "\x91", "\x8d", "b"}, []string{"a", `bytes:\xf0\x9f`, `bytes:\x91`, `bytes:\x8d`, "b"}, []int{0, 1, 1, 1, 2}},
		{"over the end of a character", []string{"\xe2", "\x9c\x93 \xe2", "\x9c\x93", "b"}, []string{`bytes:\xe2`, `bytes:\x9c\x93 \xe2`, `bytes:\x9c\x93`, "b"}, []int{0, 0, 2, 3}},
		{"bytes that are no character", []string{"\xff", "\xe2", "a"}, []string{`bytes:\xff`, `bytes:\xe2`, "a"}, []int{0, 1, 2}},
		{"a character without its end", []string{"\xf0\x9f", "\x98", "a"}, []string{`bytes:\xf0\x9f`, `bytes:\x98`, "a"}, []int{0, 0, 1}},
		{"a character that says what is none", []string{"\uFFFD"}, []string{"\uFFFD"}, []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var whole wire.CompletionLogprobs
			var cursor textCursor
			for _, token := range tt.tokens { // each in a chunk of its own
				one := cursor.fromTokens([]engine.TokenLogprob{{Token: []byte(token), Logprob: -1}})
				whole.Tokens = append(whole.Tokens, one.Tokens...)
				whole.TextOffset = append(whole.TextOffset, one.TextOffset...)
			}
			if diff := cmp.Diff(tt.written, whole.Tokens); diff != "" {
				t.Errorf("tokens (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.offsets, whole.TextOffset); diff != "" {
				t.Errorf("offsets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTopOfTokens(t *testing.T) {
	a, b := engine.TokenLogprob{Token: []byte("a"), Logprob: -1}, engine.TokenLogprob{Token: []byte("b"), Logprob: -2}
	with := func(t engine.TokenLogprob, top ...engine.TokenLogprob) engine.TokenLogprob {
		t.Top = top
		return t
	}
	for _, tt := range []struct {
		name  string
		token engine.TokenLogprob
		want  wire.CompletionTopLogprobs
	}{
		{"alone", a, wire.CompletionTopLogprobs{"a": -1}},
		{"among the likeliest", with(b, a, b), wire.CompletionTopLogprobs{"a": -1, "b": -2}},
		{"beside them", with(b, a), wire.CompletionTopLogprobs{"a": -1, "b": -2}},
		{"two of a spelling", with(b, b, engine.TokenLogprob{Token: []byte("b"), Logprob: -3}), wire.CompletionTopLogprobs{"b": -2}},
		{"unknown", engine.TokenLogprob{Token: []byte("a"), Logprob: math.NaN()}, wire.CompletionTopLogprobs{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := new(textCursor).fromTokens([]engine.TokenLogprob{tt.token})
			if diff := cmp.Diff([]wire.CompletionTopLogprobs{tt.want}, out.TopLogprobs); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			known := nullable.NewNullableWithValue(tt.token.Logprob)
			if math.IsNaN(tt.token.Logprob) {
				known = nullable.NewNullNullable[float64]()
			}
			if diff := cmp.Diff(known, out.TokenLogprobs[0]); diff != "" {
				t.Errorf("its own (-want +got):\n%s", diff)
			}
		})
	}
}
