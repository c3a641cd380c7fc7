package format

import (
	"testing"

	"github.com/diglot/diglot/engine"
)

func TestLlama3(t *testing.T) {
	runScanCases(t, "llama3", []scanCase{
		{"text", "", "Hello {you}.", []engine.Block{text("Hello {you}.")}},
		{"a call", "", `{"name": "get_weather", "parameters": {"city": "Paris"}}`, []engine.Block{call("get_weather", `{"city": "Paris"}`)}},
		{"white space in front", "", "\n\n{\"name\": \"now\", \"parameters\": {}}\n", []engine.Block{call("now", `{}`)}},
		{"with a type", "", `{"type": "function", "name": "now", "parameters": {}}`, []engine.Block{call("now", `{}`)}},
		{"two calls", "", `{"name": "now", "parameters": {}}; {"name": "get_weather", "parameters": {"days": 1}}`,
			[]engine.Block{call("now", `{}`), call("get_weather", `{"days": 1}`)}},
		{"python tag", "", `<|python_tag|>{"name": "now", "parameters": {}}`, []engine.Block{call("now", `{}`)}},
		{"python code", "", `<|python_tag|>print(1)`, []engine.Block{text("<|python_tag|>print(1)")}},
		{"an object that is no call", "", `{"answer": {"name": "now"}}`, []engine.Block{text(`{"answer": {"name": "now"}}`)}},
		{"an unknown tool", "", `{"name": "rm", "parameters": {}}`, []engine.Block{text(`{"name": "rm", "parameters": {}}`)}},
		{"an object behind text", "", `See: {"name": "now", "parameters": {}}`, []engine.Block{text(`See: {"name": "now", "parameters": {}}`)}},
	})
}

func TestMistral(t *testing.T) {
	runScanCases(t, "mistral", []scanCase{
		{"text", "", "Hello [you].", []engine.Block{text("Hello [you].")}},
		{"a list", "", `[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "abc123def"}, {"name": "now", "arguments": {}}]`,
			[]engine.Block{call("get_weather", `{"city": "Paris"}`), call("now", `{}`)}},
		{"a list with space", "", "Well.[TOOL_CALLS] [ {\"id\": \"abc123def\", \"name\": \"now\", \"arguments\": {}} ]",
			[]engine.Block{text("Well."), callID("abc123def", "now", `{}`)}},
		{"names in front", "", `[TOOL_CALLS]now[ARGS]{}[TOOL_CALLS]get_weather[ARGS]{"days": 2}`,
			[]engine.Block{call("now", `{}`), call("get_weather", `{"days": 2}`)}},
		{"with id", "", `[TOOL_CALLS]now[CALL_ID]abc123def[ARGS]{}`, []engine.Block{callID("abc123def", "now", `{}`)}},
		{"reasoning", "", "[THINK]Hm.[/THINK]Yes.", []engine.Block{reasoning("Hm."), text("Yes.")}},
		{"unknown tool", "", `[TOOL_CALLS]rm[ARGS]{}`, []engine.Block{text(`[TOOL_CALLS]rm[ARGS]{}`)}},
		{"unknown tool in a list", "", `[TOOL_CALLS][{"name": "rm", "arguments": {}}]`,
			[]engine.Block{text(`[TOOL_CALLS][{"name": "rm", "arguments": {}}]`)}},
		{"unknown second tool", "", `[TOOL_CALLS][{"name": "now", "arguments": {}}, {"name": "rm"}]`,
			[]engine.Block{call("now", "{}"), text(`{"name": "rm"}]`)}},
		{"cut", "", `[TOOL_CALLS]get_weather[ARGS]{"city": "P`, []engine.Block{call("get_weather", `{"city": "P`)}},
	})
}

func TestDeepSeek(t *testing.T) {
	const r1 = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{\"city\": \"Köln\"}\n```<｜tool▁call▁end｜>"
	const v31 = "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
	weather, now := call("get_weather", `{"city": "Köln"}`), call("now", "{}")
	runScanCases(t, "deepseek", []scanCase{
		{"reasoning", "<｜Assistant｜><think>\n", "Hm.\n</think>\n\nYes.", []engine.Block{reasoning("Hm."), text("Yes.")}},
		{"R1", "", "I look.<｜tool▁calls▁begin｜>" + r1 + "\n" + r1 + "<｜tool▁calls▁end｜>", []engine.Block{text("I look."), weather, weather}},
		{"R1 without section", "", r1, []engine.Block{weather}},
		{"R1 without fence", "", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{\"city\": \"Köln\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", []engine.Block{weather}},
		{"V3.1", "", "<｜tool▁calls▁begin｜>" + v31 + v31 + "<｜tool▁calls▁end｜>", []engine.Block{now, now}},
		{"text behind", "", "<｜tool▁calls▁begin｜>" + v31 + "<｜tool▁calls▁end｜>Done.", []engine.Block{now, text("Done.")}},
		{"reasoning ends at a call", "<think>", "Hm.<｜tool▁calls▁begin｜>" + v31 + "<｜tool▁calls▁end｜>", []engine.Block{reasoning("Hm."), now}},
		{"unknown tool", "", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>rm<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
			[]engine.Block{text("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>rm<｜tool▁sep｜>{}<｜tool▁call▁end｜>")}},
	})
}
