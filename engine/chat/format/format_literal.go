package format

// gemma is the dictionary syntax of Gemma 4, and an older form of it that
// FunctionGemma writes. Gemma 2 and 3 were trained on none.
//
//	<|channel>thought
//	…<channel|>text<|tool_call>call:f{k:<|"|>v<|"|>,n:1}<tool_call|>
//	<start_function_call>call:f{k:<escape>v<escape>}<end_function_call>
var gemma = &Format{
	Name: "gemma",
	Markers: []string{"<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", `<|"|>`,
		"<start_function_call>", "<end_function_call>", "<escape>"},
	Open:  "<|channel>thought",
	Close: "<channel|>",
	Calls: []callSyntax{
		{open: "<|tool_call>", ends: []string{"<tool_call|>"}, parser: literalCall{prefix: "call:", style: gemmaStyle}},
		{open: "<start_function_call>", ends: []string{"<end_function_call>"},
			parser: literalCall{prefix: "call:", style: escapeStyle}},
	},
}

// lfm2 is what LFM 2 and 2.5 write, Python calls:
//
//	<think>…</think><|tool_call_start|>[f(k="v", n=1)]<|tool_call_end|>
var lfm2 = &Format{
	Name:    "lfm2",
	Markers: []string{"<think>", "</think>", "<|tool_call_start|>", "<|tool_call_end|>"},
	Open:    "<think>",
	Close:   "</think>",
	Calls: []callSyntax{{
		section: "<|tool_call_start|>", sectionEnd: "<|tool_call_end|>",
		between: " \t\r\n,[]", separator: ", ", array: true,
		parser: literalCall{style: pythonStyle},
	}},
}

// olmo3 is what Olmo 3 writes: Python calls, one per line.
var olmo3 = &Format{
	Name:    "olmo3",
	Markers: []string{"<think>", "</think>", "<function_calls>", "</function_calls>"},
	Open:    "<think>",
	Close:   "</think>",
	Calls: []callSyntax{{
		section: "<function_calls>", sectionEnd: "</function_calls>", between: " \t\r\n", separator: "\n",
		parser: literalCall{style: pythonStyle},
	}},
}
