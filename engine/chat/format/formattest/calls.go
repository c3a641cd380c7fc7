// Package formattest has sample calls of each output format, for tests.
package formattest

import "github.com/diglot/diglot/engine"

// Tools returns add, which has a schema, and now, which has none.
func Tools() []engine.Tool {
	return []engine.Tool{
		{Name: "add", Parameters: []byte(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false}`)},
		{Name: "now"},
	}
}

// Calls returns the calls add(a=1) and now() by format; for harmony, which has no
// parallel calls, only the first.
func Calls() map[string]string {
	return map[string]string{
		"apertus":     `<|tools_prefix|>[{"add": {"a": 1}}, {"now": {}}]<|tools_suffix|>`,
		"command-r":   `<|START_ACTION|>[{"tool_name": "add", "parameters": {"a": 1}}, {"tool_name": "now", "parameters": {}}]<|END_ACTION|>`,
		"deepseek":    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		"dsml":        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"add\">\n<｜DSML｜parameter name=\"a\" string=\"false\">1</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
		"functionary": `<function=add>{"a": 1}</function><function=now>{}</function>`,
		"gemma":       `<|tool_call>call:add{a:1}<tool_call|><|tool_call>call:now{}<tool_call|>`,
		"glm":         "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n<tool_call>now\n</tool_call>",
		"granite":     `<|tool_call|>[{"name": "add", "arguments": {"a": 1}}, {"name": "now", "arguments": {}}]`,
		"harmony":     `<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 1}<|call|>`,
		"hermes":      "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
		"kimi":        `<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>`,
		"lfm2":        `<|tool_call_start|>[add(a=1), now()]<|tool_call_end|>`,
		"llama3":      `{"name": "add", "parameters": {"a": 1}}; {"name": "now", "parameters": {}}`,
		"minimax":     "<minimax:tool_call>\n<invoke name=\"add\">\n<parameter name=\"a\">1</parameter>\n</invoke>\n<invoke name=\"now\">\n</invoke>\n</minimax:tool_call>",
		"mistral":     `[TOOL_CALLS]add[ARGS]{"a": 1}[TOOL_CALLS]now[ARGS]{}`,
		"nemotron":    `<TOOLCALL>[{"name": "add", "arguments": {"a": 1}}, {"name": "now", "arguments": {}}]</TOOLCALL>`,
		"olmo3":       "<function_calls>add(a=1)\nnow()</function_calls>",
		"qwen-coder":  "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>",
	}
}
