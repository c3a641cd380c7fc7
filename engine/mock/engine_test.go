package mock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/enginetest"
)

func open(t testing.TB, c Config) *Engine {
	t.Helper()
	c.Log, c.Clock = slog.New(slog.DiscardHandler), time.Now
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEngine(t *testing.T) {
	only := func(t *testing.T) engine.Engine { return open(t, Config{Models: []string{"b", "a"}, Only: true}) }
	enginetest.Run(t, only)
	enginetest.RunEmbeddings(t, only)
}

// generate returns the reply to a request, whose events must follow their grammar.
func generate(t *testing.T, e engine.Engine, req *engine.Request) *engine.Response {
	t.Helper()
	var events []engine.Event
	for event, err := range engine.Checked(e).Generate(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	if err := enginetest.Check(events); err != nil {
		t.Fatal(err)
	}
	r, err := engine.Collect(func(yield func(engine.Event, error) bool) {
		for _, event := range events {
			if !yield(event, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func user(text string) engine.Message {
	return engine.Message{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: text}}}
}

const (
	mocked  = " This reply is made from the request, without a model."
	weather = `{"type":"object","properties":{"city":{"type":"string"},"unit":{"enum":["celsius","fahrenheit"]}},"required":["city"]}`
)

// blocks are the blocks of choices as text: kind, name and content.
func blocks(r *engine.Response) []string {
	var all []string
	for _, c := range r.Choices {
		for _, b := range c.Blocks {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s%s", b.Kind, b.Name, b.Text+b.Arguments)))
		}
		all = append(all, string(c.Reason)+c.StopSequence)
	}
	return all
}

// TestReplies shows what a reply is made of.
func TestReplies(t *testing.T) {
	tools := []engine.Tool{{Name: "get_weather", Parameters: json.RawMessage(weather)}, {Name: "now"}}
	call := engine.Message{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ToolCall{ID: "1", Name: "now", Arguments: "{}"}}}
	result := engine.Message{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "now", Parts: []engine.Part{engine.Text{Text: "12:30"}}}}}
	for _, tt := range []struct {
		name string
		req  engine.Request
		want []string
	}{
		{"text", engine.Request{Messages: []engine.Message{user("Say something.")}},
			[]string{`text You said "Say something.".` + mocked, "end_of_turn"}},
		{"text without markup", engine.Request{Messages: []engine.Message{user("<tool_call>{\"a\":\n1}</think>")}},
			[]string{`text You said "toolcalla: 1think".` + mocked, "end_of_turn"}},
		{"cut", engine.Request{Messages: []engine.Message{user("x")}, MaxTokens: new(2)}, []string{"text You said", "max_tokens"}},
		{"stop", engine.Request{Messages: []engine.Message{user("x")}, Stop: []string{"", "END"}}, []string{`text You said "x".` + mocked, "stop_sequenceEND"}},
		{"choices", engine.Request{Messages: []engine.Message{user("x")}, Choices: 2},
			[]string{`text You said "x".` + mocked, "end_of_turn", `text Choice 2. You said "x".` + mocked, "end_of_turn"}},
		{"reasoning", engine.Request{Messages: []engine.Message{user("x")}, Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}},
			[]string{"reasoning The request has 1 messages, and I answer the last one.", `text You said "x".` + mocked, "end_of_turn"}},
		{"a call", engine.Request{Messages: []engine.Message{user("x")}, Tools: tools},
			[]string{`tool_call get_weather{"city": "city", "unit": "celsius"}`, "tool_calls"}},
		{"a named tool", engine.Request{Messages: []engine.Message{user("What is it now?")}, Tools: tools}, []string{"tool_call now{}", "tool_calls"}},
		{"a tool whose schema has no type", engine.Request{Messages: []engine.Message{user("x")}, Tools: []engine.Tool{{Name: "f", Parameters: json.RawMessage(`{"title":"F"}`)}}},
			[]string{"tool_call f{}", "tool_calls"}},
		{"two named tools", engine.Request{Messages: []engine.Message{user("Call get_weather and now.")}, Tools: tools},
			[]string{`tool_call get_weather{"city": "city", "unit": "celsius"}`, "tool_call now{}", "tool_calls"}},
		{"one call at a time", engine.Request{Messages: []engine.Message{user("Call get_weather and now.")}, Tools: tools, ToolChoice: engine.ToolChoice{Single: true}},
			[]string{`tool_call get_weather{"city": "city", "unit": "celsius"}`, "tool_calls"}},
		{"a forced tool", engine.Request{Messages: []engine.Message{user("x")}, Tools: tools, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"now"}}},
			[]string{"tool_call now{}", "tool_calls"}},
		{"no tool", engine.Request{Messages: []engine.Message{user("x")}, Tools: tools, ToolChoice: engine.ToolChoice{Mode: engine.ToolNone}},
			[]string{`text You said "x".` + mocked, "end_of_turn"}},
		{"after a result", engine.Request{Messages: []engine.Message{user("x"), call, result}, Tools: tools},
			[]string{`text The tools returned "12:30".` + mocked, "end_of_turn"}},
		{"after a result and text", engine.Request{Messages: []engine.Message{user("x"), call, result, user("And now?")}, Tools: tools},
			[]string{`text The tools returned "12:30".` + mocked, "end_of_turn"}},
		{"a call after a result", engine.Request{Messages: []engine.Message{user("x"), call, result}, Tools: tools, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired}},
			[]string{`tool_call get_weather{"city": "city", "unit": "celsius"}`, "tool_calls"}},
		{"reasoning and a call", engine.Request{Messages: []engine.Message{user("now")}, Tools: tools, Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired}},
			[]string{"reasoning The request has 1 messages, and I answer the last one.", "tool_call now{}", "tool_calls"}},
		{"JSON", engine.Request{Messages: []engine.Message{user("x")}, Format: engine.Format{Kind: engine.FormatJSON}}, []string{`text {"answer": "answer"}`, "end_of_turn"}},
		{"a schema", engine.Request{Messages: []engine.Message{user("x")}, Format: engine.Format{Kind: engine.FormatSchema, Schema: json.RawMessage(weather)}},
			[]string{`text {"city": "city", "unit": "celsius"}`, "end_of_turn"}},
		{"reasoning and a schema", engine.Request{Messages: []engine.Message{user("x")}, Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}, Format: engine.Format{Kind: engine.FormatSchema, Schema: json.RawMessage(weather)}},
			[]string{"reasoning The request has 1 messages, and I answer the last one.", `text {"city": "city", "unit": "celsius"}`, "end_of_turn"}},
		{"a schema, but a tool first", engine.Request{Messages: []engine.Message{user("now")}, Tools: tools, Format: engine.Format{Kind: engine.FormatJSON}},
			[]string{"tool_call now{}", "tool_calls"}},
		{"a prompt", engine.Request{Prompt: &engine.Prompt{Text: "Once upon a time", Echo: true}},
			[]string{`text Once upon a time This continues the prompt, which ends with "Once upon a time".`, "end_of_turn"}},
		{"a gap", engine.Request{Prompt: &engine.Prompt{Text: "func f() {", Suffix: "}"}},
			[]string{`text  This continues the prompt, which ends with "func f".`, "end_of_turn"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t, Config{})
			tt.req.Model = "any/model:7b"
			got := generate(t, e, &tt.req)
			if diff := cmp.Diff(tt.want, blocks(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if diff := cmp.Diff(blocks(got), blocks(generate(t, e, &tt.req))); diff != "" {
				t.Errorf("the second time another reply\n%s", diff)
			}
			n, err := e.Count(t.Context(), &tt.req)
			if err != nil || n != got.Usage.PromptTokens {
				t.Errorf("counted %d, %v; the reply says %d", n, err, got.Usage.PromptTokens)
			}
		})
	}
}

// TestTokens holds that usage and logprobs are of the same tokens, which join to the text.
func TestTokens(t *testing.T) {
	for text, want := range map[string][]string{
		"Hello there, you!":            {"Hello", " there", ",", " you", "!"},
		"internationalisation":         {"internat", "ionalisa", "tion"},
		"a  b\n\nc ":                   {"a", " ", " b", "\n", "\n", "c", " "},
		`{"a": 1}`:                     {"{", `"`, "a", `"`, ":", " 1", "}"},
		"é 你好 \xff":                    {"é", " 你好", " \xff"},
		"":                             nil,
		strings.Repeat("x", 2*8) + " ": {"xxxxxxxx", "xxxxxxxx", " "},
	} {
		if diff := cmp.Diff(want, split(text)); diff != "" || count(text) != len(want) {
			t.Errorf("%q: %d tokens\n%s", text, count(text), diff)
		}
	}
	req := engine.Request{Model: "m", Messages: []engine.Message{user("Hi")}, Logprobs: new(3)}
	r := generate(t, open(t, Config{}), &req)
	text, tokens := "", 0
	for _, token := range r.Choices[0].Blocks[0].Logprobs {
		text += string(token.Token)
		tokens++
		if token.Logprob != -math.Ln2 || len(token.Top) != 3 || !bytes.Equal(token.Top[0].Token, token.Token) {
			t.Errorf("token %+v", token)
		}
	}
	if text != r.Choices[0].Blocks[0].Text || tokens != r.Usage.CompletionTokens {
		t.Errorf("%d tokens %q of %+v", tokens, text, r)
	}
}

// TestModels holds which names are served.
func TestModels(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config Config
		model  string
		served bool
	}{
		{"any", Config{}, "gpt-5", true},
		{"missing", Config{}, "missing", false},
		{"missing, with a tag", Config{}, "missing:latest", false},
		{"only what is listed", Config{Models: []string{"a"}, Only: true}, "b", false},
		{"what is listed", Config{Models: []string{"a"}, Only: true}, "a:latest", true},
		{"missing, if it is listed", Config{Models: []string{"missing"}}, "missing", true},
	} {
		_, err := open(t, tt.config).FindModel(t.Context(), tt.model)
		if (err == nil) != tt.served || err != nil && engine.AsError(err).Code != engine.CodeModelNotFound {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	list, err := open(t, Config{Models: []string{"b", "a", "b"}}).Models(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "a" || list[1].Name != "b" {
		t.Errorf("models %+v, %v", list, err)
	}
}

func TestImages(t *testing.T) {
	drawn, err := engine.CollectImages(open(t, Config{}).GenerateImages(t.Context(), &engine.ImageRequest{Model: "dall-e", Prompt: "a cat", Width: 64, Height: 32, Choices: 2}))
	if err != nil || len(drawn) != 2 {
		t.Fatalf("%d images, %v", len(drawn), err)
	}
	card, err := png.Decode(bytes.NewReader(drawn[0].Image.Data))
	if err != nil || card.Bounds().Dx() != 64 || card.Bounds().Dy() != 32 {
		t.Errorf("%v, %v", card.Bounds(), err)
	}
}

// TestImpossible holds that a schema for which nothing is found is an error of the request.
func TestImpossible(t *testing.T) {
	req := engine.Request{Model: "m", Messages: []engine.Message{user("x")},
		Format: engine.Format{Kind: engine.FormatSchema, Schema: json.RawMessage(`{"type":"string","minLength":60000}`)}}
	var last error
	for _, err := range open(t, Config{}).Generate(t.Context(), &req) {
		last = err
	}
	if coded := engine.AsError(last); coded == nil || coded.Code != engine.CodeUnsupported || !coded.NoRetry || coded.Place.Field != engine.FieldFormat {
		t.Errorf("error %v", last)
	}
}
