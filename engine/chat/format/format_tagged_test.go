package format

import (
	"testing"

	"github.com/diglot/diglot/engine"
)

func TestQwenCoder(t *testing.T) {
	runScanCases(t, "qwen-coder", []scanCase{
		{"all types", "", "I look.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nNew\n\"York\"\n</parameter>\n<parameter=days>\n2\n</parameter>\n<parameter=exact>\nTrue\n</parameter>\n<parameter=where>\n{\"a\": [1]}\n</parameter>\n</function>\n</tool_call>",
			[]engine.Block{text("I look."), call("get_weather", `{"city": "New\n\"York\"", "days": 2, "exact": true, "where": {"a": [1]}}`)}},
		{"no arguments", "", "<tool_call>\n<function=now>\n</function>\n</tool_call>", []engine.Block{call("now", "{}")}},
		{"tag forgotten", "", "<function=get_weather>\n<parameter=city>\nKöln\n</parameter>\n</function>\n</tool_call>",
			[]engine.Block{call("get_weather", `{"city": "Köln"}`)}},
		{"two calls", "", "<tool_call>\n<function=now>\n</function>\n</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>",
			[]engine.Block{call("now", "{}"), call("now", "{}")}},
		{"not in the schema", "", "<tool_call><function=now><parameter=a>5</parameter><parameter=b>x y</parameter></function></tool_call>",
			[]engine.Block{call("now", `{"a": 5, "b": "x y"}`)}},
		{"reasoning opened by the prompt", "<think>\n", "Hm.\n</think>\n\n<tool_call>\n<function=now>\n</function>\n</tool_call>",
			[]engine.Block{reasoning("Hm."), call("now", "{}")}},
		{"cut in a string", "", "<tool_call>\n<function=get_weather>\n<parameter=city>\nPar", []engine.Block{call("get_weather", `{"city": "Par`)}},
		{"cut in a number", "", "<tool_call>\n<function=get_weather>\n<parameter=days>\n1", []engine.Block{call("get_weather", `{"days": 1`)}},
		{"unknown tool", "", "<tool_call>\n<function=rm>\n</function>\n</tool_call>",
			[]engine.Block{text("<tool_call>\n<function=rm>\n</function>\n</tool_call>")}},
	})
}

func TestGLM(t *testing.T) {
	runScanCases(t, "glm", []scanCase{
		{"a call", "", "<think>Hm.</think>\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
			[]engine.Block{reasoning("Hm."), call("get_weather", `{"city": "Paris", "days": 3}`)}},
		{"without lines", "", "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call><tool_call>now</tool_call>",
			[]engine.Block{call("get_weather", `{"city": "Paris"}`), call("now", "{}")}},
		{"end spelled out", "", "Yes.<|user|>No.", []engine.Block{text("Yes.")}},
	})
}

func TestMiniMax(t *testing.T) {
	runScanCases(t, "minimax", []scanCase{
		{"two calls", "<think>\n", "Hm.\n</think>\n\n<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n<parameter name=\"tags\">[\"a\"]</parameter>\n</invoke>\n<invoke name=\"now\">\n</invoke>\n</minimax:tool_call>",
			[]engine.Block{reasoning("Hm."), call("get_weather", `{"city": "Paris", "tags": ["a"]}`), call("now", "{}")}},
	})
}

func TestDSML(t *testing.T) {
	runScanCases(t, "dsml", []scanCase{
		{"two calls", "<think>", "Hm.</think>\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">5</｜DSML｜parameter>\n<｜DSML｜parameter name=\"days\" string=\"false\">5</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
			[]engine.Block{reasoning("Hm."), call("get_weather", `{"city": "5", "days": 5}`), call("now", "{}")}},
		{"newer section", "", "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>", []engine.Block{call("now", "{}")}},
	})
}
