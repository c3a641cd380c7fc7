package format

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format/formattest"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// constrain makes the constraint of a request in a format.
func constrain(ctx context.Context, format, opening string, req *engine.Request) (*Constraint, error) {
	f, ok := ByName(format)
	if !ok {
		return nil, fmt.Errorf("no format %q", format)
	}
	return Constrain(ctx, f, req, opening, true)
}

// constraintOf is the grammar of a request, or nil.
func constraintOf(t *testing.T, format, opening string, req *engine.Request) *grammar.Grammar {
	t.Helper()
	c, err := constrain(t.Context(), format, opening, req)
	if err != nil {
		t.Fatalf("constrain: %v", err)
	}
	return c.Grammar
}

func emptyRequest() *engine.Request { return &engine.Request{Choices: 1} }

// allowed is what a grammar says of a whole output.
func allowed(g *grammar.Grammar, output string) string {
	m := g.Matcher()
	for i := range len(output) {
		if !m.Accept([]byte(output[i : i+1])) {
			return "forbidden from " + output[i:]
		}
	}
	if !m.Complete() {
		return "incomplete"
	}
	return "allowed"
}

type constraintRows map[string]bool // output: allowed as a whole
var required = engine.ToolChoice{Mode: engine.ToolRequired}
var named = engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"now"}}

const hermesAdd = "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>"
const hermesNow = "<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>"
const hermesBad = "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": \"x\"}}\n</tool_call>"
const hermesUnknown = "<tool_call>\n{\"name\": \"rm\", \"arguments\": {}}\n</tool_call>"

var constraintCases = []struct {
	name            string
	format, opening string
	choice          engine.ToolChoice
	tools           bool
	reply           engine.Format
	rows            constraintRows
}{
	{"auto", "hermes", "", engine.ToolChoice{}, true, engine.Format{}, constraintRows{
		"": true, "Hello {you}.": true, hermesAdd: true, "I look.\n" + hermesAdd + "\n" + hermesNow: true, hermesNow + "\nDone.": true,
		"<think>\nHm.\n</think>\n\nYes.": true, hermesBad: false, hermesUnknown: false, "Use <tool_call> now": false}},
	{"auto, one call", "hermes", "", engine.ToolChoice{Single: true}, true, engine.Format{}, constraintRows{
		hermesAdd: true, hermesAdd + "\n" + hermesNow: false, "So: " + hermesNow: true}},
	{"auto, some tools", "hermes", "", engine.ToolChoice{Names: []string{"now"}}, true, engine.Format{}, constraintRows{
		hermesNow: true, hermesAdd: false}},
	{"required", "hermes", "", required, true, engine.Format{}, constraintRows{
		hermesAdd: true, hermesNow + hermesAdd: true, hermesAdd + "\n": true, "": false, "Hello.": false, "I look. " + hermesAdd: false,
		"<think>Hm.</think>\n" + hermesAdd: true}},
	{"required, reasoning opened", "hermes", "<think>\n", required, true, engine.Format{}, constraintRows{
		"Hm.\n</think>\n\n" + hermesAdd: true, "Hm.": false,
		hermesAdd: true, "Hm.\n" + hermesAdd + "\n" + hermesNow: true, "Hm. " + hermesBad: false, "Hm. " + hermesUnknown + "</think>" + hermesAdd: false}},
	{"required, reasoning opens", "hermes", "", required, true, engine.Format{}, constraintRows{
		"<think>Hm." + hermesAdd: true, "<think>Hm. " + hermesBad + "</think>" + hermesAdd: false}},
	{"named", "hermes", "", named, true, engine.Format{}, constraintRows{hermesNow: true, hermesAdd: false}},
	{"JSON", "hermes", "", engine.ToolChoice{}, false, engine.Format{Kind: engine.FormatJSON}, constraintRows{
		`{"a": [1]}`: true, "[1]": false, "So: {}": false, "<think>Hm.</think>{}": true}},
	{"JSON, reasoning opened", "hermes", "<think>\n", engine.ToolChoice{}, false, engine.Format{Kind: engine.FormatJSON}, constraintRows{
		"Hm.\n</think>\n\n{}": true, "{}": false}},
	{"schema", "plain", "", engine.ToolChoice{}, false,
		engine.Format{Kind: engine.FormatSchema, Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)},
		constraintRows{`{"n": 1}`: true, `{"n": "1"}`: false, `{}`: false}},
	{"JSON or a call, reasoning opened", "hermes", "<think>\n", engine.ToolChoice{}, true, engine.Format{Kind: engine.FormatJSON}, constraintRows{
		"Hm.</think>{}": true, "Hm.</think>" + hermesAdd: true, "Hm." + hermesAdd: true, "Hm.{}": false, "Hm. " + hermesBad: false}},
	{"JSON or a call", "hermes", "", engine.ToolChoice{}, true, engine.Format{Kind: engine.FormatJSON}, constraintRows{
		"{}": true, hermesAdd: true, "Hello.": false}},
	{"no call", "hermes", "", engine.ToolChoice{Mode: engine.ToolNone}, true, engine.Format{Kind: engine.FormatJSON}, constraintRows{
		"{}": true, hermesAdd: false}},
	{"llama3 auto", "llama3", "", engine.ToolChoice{}, true, engine.Format{}, constraintRows{
		"": true, "Hello {you}.": true, `{"answer": 1}`: true, `{"name": "add", "parameters": {"a": 1}}`: true,
		`{"nation": "Chad"}`: true, `{ "names": ["Ann"]}`: true, `{"name`: false,
		`{"name": "add", "parameters": {}}`: false, `{"name": "rm", "parameters": {}}`: false,
		`<|python_tag|>{"name": "now", "parameters": {}}`: true}},
	{"llama3 required", "llama3", "", required, true, engine.Format{}, constraintRows{
		`{"name": "add", "parameters": {"a": 1}}`: true, "Hello.": false}},
	{"mistral required", "mistral", "", required, true, engine.Format{}, constraintRows{
		`[TOOL_CALLS][{"name": "add", "arguments": {"a": 1}}, {"name": "now", "arguments": {}}]`: true,
		`[TOOL_CALLS]add[ARGS]{"a": 1}`: true, `[TOOL_CALLS]add[CALL_ID]123456789[ARGS]{"a": 1}`: true,
		`[TOOL_CALLS]rm[ARGS]{}`: false}},
	{"deepseek required", "deepseek", "<think>\n", required, true, engine.Format{}, constraintRows{
		"Hm.</think>\n\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>": true,
		"Hm.</think><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>":                     true,
		"Hm.</think>Hello.": false}},
	{"qwen-coder required", "qwen-coder", "", required, true, engine.Format{}, constraintRows{
		"<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\nx < y\n</parameter>\n</function>\n</tool_call>": true,
		"<tool_call>\n<function=add>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>":                                     false,
		"<tool_call>\n<function=add>\n</function>\n</tool_call>":                                                                     false,
		"<tool_call>\n<function=now>\n</function>\n</tool_call>":                                                                     true}},
	{"glm required", "glm", "", required, true, engine.Format{}, constraintRows{
		"<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>": true,
		"<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n</tool_call>": false}},
	{"gemma required", "gemma", "", required, true, engine.Format{}, constraintRows{
		`<|tool_call>call:add{a:1,b:<|"|>x,y<|"|>}<tool_call|>`: true, `<|tool_call>call:add{b:<|"|>x<|"|>}<tool_call|>`: false,
		`<|tool_call>call:now{}<tool_call|>`: true}},
	{"lfm2 required", "lfm2", "", required, true, engine.Format{}, constraintRows{
		`<|tool_call_start|>[add(a=1, b="x"), now()]<|tool_call_end|>`: true, `<|tool_call_start|>[add(b="x")]<|tool_call_end|>`: false}},
	{"harmony auto", "harmony", "<|start|>assistant", engine.ToolChoice{}, true, engine.Format{}, constraintRows{
		"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.": true,
		"<|channel|>commentary to=functions.now <|constrain|>json<|message|>{}<|call|>":             true,
		" to=functions.add<|channel|>commentary json<|message|>{\"a\": 1}":                          true,
		"<|channel|>commentary to=functions.add<|message|>{}":                                       false,
		"<|channel|>commentary to=functions.rm<|message|>{}":                                        false,
		// The next message begins where the end of one was forgotten.
		"<|channel|>analysis<|message|>Hm.<|channel|>commentary to=functions.add<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>Yes.": false,
		"<|channel|>final<|message|>Hm.<|start|>assistant<|channel|>commentary to=functions.add<|message|>":                                            false}},
	{"harmony auto, answer opened", "harmony", "<|start|>assistant<|channel|>final<|message|>", engine.ToolChoice{}, true, engine.Format{}, constraintRows{
		"Yes.": true, "Yes.<|return|>": true, "Yes.<|channel|>commentary to=functions.add<|message|>{}": false}},
	{"harmony required, reasoning opened", "harmony", "<|start|>assistant<|channel|>analysis<|message|>", required, true, engine.Format{}, constraintRows{
		"Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}":                                                    true,
		"Hm.<|channel|>commentary to=functions.add<|message|>{}<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}": false}},
	{"harmony required", "harmony", "<|start|>assistant", required, true, engine.Format{}, constraintRows{
		"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}": true,
		"<|channel|>final<|message|>Yes.": false}},
	{"harmony JSON", "harmony", "<|start|>assistant", engine.ToolChoice{}, false, engine.Format{Kind: engine.FormatJSON}, constraintRows{
		"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{}": true,
		"<|channel|>final <|constrain|>json<|message|>{}":                                         true,
		"<|channel|>final<|message|>Yes.":                                                         false}},
	{"kimi required", "kimi", "", required, true, engine.Format{}, constraintRows{
		"<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>": true,
		"<|tool_calls_section_begin|><|tool_call_begin|>functions.rm:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>":  false}},
	{"kimi auto, no section", "kimi", "", engine.ToolChoice{}, true, engine.Format{}, constraintRows{
		"So. <|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>":                           true,
		"So. <|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>": true,
		"So. <|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{}<|tool_call_end|>":                           false,
		"So. <|tool_call_begin|>functions.rm:0<|tool_call_argument_begin|>{}<|tool_call_end|>":                            false}},
	{"kimi required, reasoning opened", "kimi", "<think>", required, true, engine.Format{}, constraintRows{
		"Hm. <|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>": true,
		"Hm. <|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{}<|tool_call_end|>": false}},
}

func TestConstraint(t *testing.T) {
	for _, test := range constraintCases {
		t.Run(test.name, func(t *testing.T) {
			req := emptyRequest()
			req.ToolChoice, req.Format = test.choice, test.reply
			if test.tools {
				req.Tools = formattest.Tools()
			}
			g := constraintOf(t, test.format, test.opening, req)
			if g == nil {
				t.Fatal("no constraint")
			}
			for output, want := range test.rows {
				if got := allowed(g, output); (got == "allowed") != want {
					t.Errorf("%q is %s", output, got)
				}
			}
		})
	}
}

func TestNoConstraint(t *testing.T) {
	for name, change := range map[string]func(*engine.Request){
		"text":             func(*engine.Request) {},
		"tool choice none": func(r *engine.Request) { r.Tools, r.ToolChoice.Mode = formattest.Tools(), engine.ToolNone },
	} {
		for _, format := range []string{"hermes", "harmony", "plain"} {
			req := emptyRequest()
			change(req)
			if constraintOf(t, format, "", req) != nil {
				t.Errorf("%s, %s: a constraint", name, format)
			}
		}
	}
}

// TestEveryFormat checks for each format that a call is both what its grammar
// asks for and what its scanner reads.
func TestEveryFormat(t *testing.T) {
	outputs := formattest.Calls()
	for _, name := range Names() {
		format, _ := ByName(name)
		if !format.HasCalls() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			req := emptyRequest()
			req.Tools, req.ToolChoice.Mode = formattest.Tools(), engine.ToolRequired
			if got := allowed(constraintOf(t, name, "", req), outputs[name]); got != "allowed" {
				t.Errorf("%q is %s", outputs[name], got)
			}
			blocks := scan(t, format, toolsOf(t, formattest.Tools()), "", outputs[name])
			for i := range blocks {
				blocks[i].CallID = "id"
			}
			want := []engine.Block{call("add", `{"a": 1}`), call("now", "{}")}
			if format.channels {
				want = want[:1] // one call in a turn
			}
			if diff := cmp.Diff(want, blocks); diff != "" {
				t.Errorf("%q is read as (-want +got):\n%s", outputs[name], diff)
			}
		})
	}
}

// wideRequest has one tool with n optional parameters of a type.
func wideRequest(n int, kind string) *engine.Request {
	var properties strings.Builder
	for i := range n {
		fmt.Fprintf(&properties, `,"p%d":{"type":%q}`, i, kind)
	}
	req := emptyRequest()
	req.Tools = []engine.Tool{{Name: "wide", Parameters: []byte(`{"type":"object","properties":{` + properties.String()[1:] + `}}`)}}
	return req
}

// TestManyParameters holds the work for a tool to the number of its
// parameters: with the square of it, one request takes minutes.
func TestManyParameters(t *testing.T) {
	for _, name := range Names() {
		work := func(n int) float64 {
			return testing.AllocsPerRun(1, func() {
				if _, err := constrain(t.Context(), name, "", wideRequest(n, "integer")); err != nil {
					t.Errorf("%s, %d parameters: %v", name, n, err)
				}
			})
		}
		if few, many := work(60), work(120); many > 3*few {
			t.Errorf("%s: %.0f allocations for 60 parameters, %.0f for 120", name, few, many)
		}
	}
}

func TestTooManyParameters(t *testing.T) {
	_, err := constrain(t.Context(), "gemma", "", wideRequest(5000, "string"))
	e := engine.AsError(err)
	if e == nil || e.Code != engine.CodeInvalidArgument || e.Place.Field != engine.FieldTools || !errors.Is(e, grammar.ErrTooLarge) {
		t.Errorf("error %#v, want code %q at the tools", e, engine.CodeInvalidArgument)
	}
}

// agentRequest has the tools of an agent, 64 KB in all.
func agentRequest() *engine.Request {
	words := strings.Repeat("Says in some detail when to use it, and what it returns. ", 12)
	req := emptyRequest()
	for i := range 24 {
		req.Tools = append(req.Tools, engine.Tool{Name: fmt.Sprintf("mcp__files__tool_%d", i), Description: words, Parameters: fmt.Appendf(nil, `{"type":"object","properties":{`+
			`"path":{"type":"string","description":%q},`+
			`"mode":{"type":"string","enum":["read","write","append","create","delete","move","copy"],"description":%q},`+
			`"limit":{"type":"integer","minimum":1,"maximum":%d},"deep":{"type":"boolean"},`+
			`"edits":{"type":"array","minItems":1,"items":{"type":"object","properties":{"old":{"type":"string","description":%q},"new":{"type":"string"},`+
			`"kinds":{"type":"array","items":{"enum":["line","block","file"]}}},"required":["old","new"],"additionalProperties":false}},`+
			`"options":{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}},"target":{"$ref":"#/$defs/target"}},"additionalProperties":true},`+
			`"where":{"$ref":"#/$defs/target"}`+
			`},"required":["path","edits"],"$defs":{"target":{"type":"object","properties":{"line":{"type":"integer"},"column":{"type":["integer","null"]}},"required":["line"]}}}`,
			words, words, 100+i, words)})
	}
	return req
}

// What agents send passes in every format, with a part of the budget, and
// each schema is read once whatever the format asks of it: it costs about the
// same in all.
func TestAgentRequest(t *testing.T) {
	req := agentRequest()
	size := 0
	for _, tool := range req.Tools {
		size += len(tool.Parameters)
	}
	if size < 62_000 {
		t.Errorf("only %d bytes of schemas", size)
	}
	limits := grammar.DefaultLimits()
	for _, name := range Names() {
		for _, mode := range []engine.ToolMode{engine.ToolAuto, engine.ToolRequired} {
			if format, _ := ByName(name); !format.HasCalls() {
				continue
			}
			req.ToolChoice.Mode = mode
			budget := grammar.NewBudget(limits, nil)
			made, err := constrain(budget.Context(t.Context()), name, "", req)
			if err != nil {
				t.Errorf("%s, %s: %v", name, mode, err)
				continue
			}
			used := budget.Used()
			t.Logf("%s, %s: %d steps, %d bytes, result of %d bytes", name, mode, used.Steps, used.Bytes, made.Size)
			if 3*used.Steps > limits.Steps || 3*used.Bytes > limits.Bytes || made.Size > 2<<20 {
				t.Errorf("%s, %s: it takes %v of %v, and the result %d bytes", name, mode, used, limits, made.Size)
			}
		}
	}
}

// A schema that costs too much is told by the name of its tool, wherever that
// comes out, and so is the response format.
func TestTooLarge(t *testing.T) {
	large := []byte(`{"pattern":"` + strings.Repeat(`\\p{L}x`, 400) + `"}`)
	largeParameter := []byte(`{"properties":{"a":` + string(large) + `}}`)
	product := []byte(`{"allOf":[` + strings.Repeat(`{"properties":{"a":{"type":"object"}},"additionalProperties":{"allOf":[{"$ref":"#"}]}},`, 500) + `{}]}`)
	for name, row := range map[string]struct {
		tools  []engine.Tool
		format engine.Format
		place  engine.Place
		named  string
	}{
		"compiling": {[]engine.Tool{formattest.Tools()[0], {Name: "huge", Parameters: largeParameter}}, engine.Format{}, engine.Place{Field: engine.FieldTools, Index: 1}, "huge"},
		"reading":   {[]engine.Tool{formattest.Tools()[0], {Name: "huge", Parameters: []byte(strings.Repeat(" ", 40<<20) + "{}")}}, engine.Format{}, engine.Place{Field: engine.FieldTools, Index: 1}, "huge"},
		"product":   {[]engine.Tool{{Name: "huge", Parameters: product}}, engine.Format{}, engine.Place{Field: engine.FieldTools}, "huge"},
		"format":    {nil, engine.Format{Kind: engine.FormatSchema, Schema: large}, engine.Place{Field: engine.FieldFormat}, "response format"},
		"both":      {formattest.Tools(), engine.Format{Kind: engine.FormatSchema, Schema: large}, engine.Place{Field: engine.FieldFormat}, "response format"},
	} {
		req := emptyRequest()
		req.Tools, req.Format = row.tools, row.format
		budget := grammar.NewBudget(grammar.DefaultLimits(), nil)
		_, err := constrain(budget.Context(t.Context()), "hermes", "", req)
		budget.Close()
		e := engine.AsError(err)
		if e == nil || e.Code != engine.CodeInvalidArgument || !errors.Is(e, grammar.ErrTooLarge) || !strings.Contains(e.Message, row.named) || !strings.Contains(e.Message, "too large") {
			t.Errorf("%s: got %v", name, e)
			continue
		}
		if e.Place.Path = ""; e.Place != row.place {
			t.Errorf("%s: at %v, want %v", name, e.Place, row.place)
		}
	}
}
