package format

// kimi is what Kimi K2 writes. The id is part of the call, and the model often
// omits the start of the section:
//
//	<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}<|tool_call_end|><|tool_calls_section_end|>
var kimi = &Format{
	Name: "kimi",
	Markers: []string{"<think>", "</think>", "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>",
		"<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"},
	Open:  "<think>",
	Close: "</think>",
	Calls: []callSyntax{{
		section: "<|tool_calls_section_begin|>", sectionEnd: "<|tool_calls_section_end|>", between: " \t\r\n", optionalSection: true,
		open: "<|tool_call_begin|>", ends: []string{"<|tool_call_end|>"},
		parser: namedCall{mark: "<|tool_call_argument_begin|>", indexed: true},
	}},
}

// functionary is what Functionary 3.1 writes: <function=f>{…}</function>.
var functionary = &Format{
	Name:  "functionary",
	Calls: []callSyntax{{open: "<function=", ends: []string{"</function>"}, parser: namedCall{mark: ">"}}},
}

// deepseek is what DeepSeek R1 and its distillations write, and, in the shorter
// form, V3.1 and Cogito:
//
//	<think>…</think>text<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f
//	```json
//	{…}
//	```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
//
//	<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{…}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
var deepseek = &Format{
	Name: "deepseek",
	Markers: []string{"<think>", "</think>", deepseekBegin, "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>",
		"<｜tool▁call▁end｜>", "<｜tool▁sep｜>"},
	Open:  "<think>",
	Close: "</think>",
	Calls: []callSyntax{
		{
			section: deepseekBegin, sectionEnd: "<｜tool▁calls▁end｜>", between: " \t\r\n", separator: "\n", optionalSection: true,
			open: "<｜tool▁call▁begin｜>", ends: []string{"\n```", "<｜tool▁call▁end｜>"},
			parser: namedCall{prefix: "function<｜tool▁sep｜>", mark: "\n```json\n"},
		},
		{
			section: deepseekBegin, sectionEnd: "<｜tool▁calls▁end｜>", between: " \t\r\n", optionalSection: true,
			open: "<｜tool▁call▁begin｜>", ends: []string{"<｜tool▁call▁end｜>"},
			parser: namedCall{mark: "<｜tool▁sep｜>"},
		},
	},
}

const deepseekBegin = "<｜tool▁calls▁begin｜>"
