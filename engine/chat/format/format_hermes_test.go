package format

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

func TestPlain(t *testing.T) {
	for name, output := range map[string]string{
		"text":        "Hello there.\n",
		"no call":     "<think>x</think><tool_call>\n{\"name\": \"now\"}\n</tool_call>",
		"white space": "\n\n a \n",
	} {
		runScanCases(t, "plain", []scanCase{{name, "", output, []engine.Block{text(output)}}})
	}
}

func TestHermes(t *testing.T) {
	const think = "<|im_start|>assistant\n<think>\n"
	const noThink = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
	runScanCases(t, "hermes", []scanCase{
		{"text", "", "Hello <b>you</b>.\n", []engine.Block{text("Hello <b>you</b>.\n")}},
		{"nothing", "", "", nil},
		{"a call", "", "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Köln\"}}\n</tool_call>",
			[]engine.Block{call("get_weather", `{"city": "Köln"}`)}},
		{"text and two calls", "", "I look.\n\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"days\": 2}}\n</tool_call>\n",
			[]engine.Block{text("I look."), call("now", "{}"), call("get_weather", `{"days": 2}`)}},
		{"arguments first", "", `<tool_call>{"arguments": {"city": "a}\"{"}, "name": "get_weather"}</tool_call>`,
			[]engine.Block{call("get_weather", `{"city": "a}\"{"}`)}},
		{"no arguments", "", `<tool_call>{"name": "now"}</tool_call>`, []engine.Block{call("now", "{}")}},
		{"null arguments", "", `<tool_call>{"name": "now", "arguments": null}</tool_call>`, []engine.Block{call("now", "{}")}},
		{"arguments in a string", "", `<tool_call>{"name": "get_weather", "arguments": "{\"city\": \"\\u00e9\"}"}</tool_call>`,
			[]engine.Block{call("get_weather", `{"city": "\u00e9"}`)}},
		{"an id of its own", "", `<tool_call>{"id": "x1", "name": "now", "arguments": {}}</tool_call>`, []engine.Block{callID("x1", "now", "{}")}},
		{"text behind a call", "", "<tool_call>{\"name\": \"now\"}</tool_call>\nDone.\n", []engine.Block{call("now", "{}"), text("Done.\n")}},
		{"unknown tool", "", "A <tool_call>\n{\"name\": \"rm\", \"arguments\": {}}\n</tool_call>",
			[]engine.Block{text("A <tool_call>\n{\"name\": \"rm\", \"arguments\": {}}\n</tool_call>")}},
		{"mention of the mark", "", "Use <tool_call> for it.", []engine.Block{text("Use <tool_call> for it.")}},
		{"cut before the name", "", `So. <tool_call>{"na`, []engine.Block{text("So.")}},
		{"cut behind the mark", "", "<tool_call>", nil},
		{"no call behind the mark", "", "<tool_call> is", []engine.Block{text("<tool_call> is")}},
		{"cut in the arguments", "", `<tool_call>{"name": "get_weather", "arguments": {"city": "Par`,
			[]engine.Block{call("get_weather", `{"city": "Par`)}},
		{"cut behind the arguments", "", `<tool_call>{"name": "now", "arguments": {"a": 1}`, []engine.Block{call("now", `{"a": 1}`)}},
		{"bracket forgotten", "", "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": 1}\n</tool_call> So.",
			[]engine.Block{call("now", `{"a": 1}`), text("So.")}},
		{"marks forgotten", "", "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Köln\"}}\n",
			[]engine.Block{call("get_weather", `{"city": "Köln"}`)}},
		{"marks forgotten, twice", "", "{\"name\": \"now\", \"arguments\": {}}\n{\"name\": \"now\", \"arguments\": {}}",
			[]engine.Block{call("now", "{}"), call("now", "{}")}},
		{"an object that is no call", "", `{"name": "Ann", "arguments": {}}`, []engine.Block{text(`{"name": "Ann", "arguments": {}}`)}},
		{"an object with other members", "", `{"city": "Köln"}`, []engine.Block{text(`{"city": "Köln"}`)}},
		{"a call inside text is text", "", `So: {"name": "now", "arguments": {}}`, []engine.Block{text(`So: {"name": "now", "arguments": {}}`)}},
		{"reasoning", "", "<think>\nHm.\n</think>\n\nYes.", []engine.Block{reasoning("Hm."), text("Yes.")}},
		{"reasoning opened by the prompt", think, "Hm.\n\nWell.\n</think>\n\nYes.", []engine.Block{reasoning("Hm.\n\nWell."), text("Yes.")}},
		{"reasoning closed by the prompt", noThink, "Yes.", []engine.Block{text("Yes.")}},
		{"empty reasoning", "", "<think>\n\n</think>\n\nYes.", []engine.Block{text("Yes.")}},
		{"reasoning without end", think, "Hm. <b", []engine.Block{reasoning("Hm. <b")}},
		{"reasoning ends at a call", think, "Hm.\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
			[]engine.Block{reasoning("Hm."), call("now", "{}")}},
		{"reasoning mentions the mark", think, "A <tool_call> now?</think>No.", []engine.Block{reasoning("A <tool_call> now?"), text("No.")}},
		{"odd order", "", "A<think>B</think><tool_call>{\"name\": \"now\"}</tool_call>C<think>D</think>E",
			[]engine.Block{text("A"), reasoning("B"), call("now", "{}"), text("C"), reasoning("D"), text("E")}},
		{"broken bytes", "", "a\xff\xe2\x82z\xe2\x82", []engine.Block{text("a\ufffd\ufffdz\ufffd")}},
	})
}

func TestHermesWithoutTools(t *testing.T) {
	const output = "<think>a</think><tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>"
	want := []engine.Block{reasoning("a"), text(output[len("<think>a</think>"):])}
	if diff := cmp.Diff(want, scan(t, hermes, nil, "", output)); diff != "" {
		t.Errorf("call markup must be text (-want +got):\n%s", diff)
	}
}
