package format

// qwenCoder is what Qwen3-Coder, Qwen3.5, Nemotron 3 and Step 3.5 write. They often
// omit the outer tag:
//
//	<tool_call>
//	<function=f>
//	<parameter=k>
//	v
//	</parameter>
//	</function>
//	</tool_call>
var qwenCoder = &Format{
	Name:    "qwen-coder",
	Markers: []string{"<think>", "</think>", "<tool_call>", "</tool_call>"},
	Open:    "<think>",
	Close:   "</think>",
	Calls: []callSyntax{
		{open: "<tool_call>", ends: []string{"</tool_call>"}, pad: "\n", separator: "\n", parser: qwenCoderCall},
		{open: "<function=", ends: []string{"</tool_call>"}, pad: "\n", separator: "\n", parser: taggedCall{
			nameEnd: ">", keyOpen: "<parameter=", keyEnd: ">", valueEnd: "</parameter>", end: "</function>", line: "\n"}},
	},
}

var qwenCoderCall = taggedCall{
	nameOpen: "<function=", nameEnd: ">",
	keyOpen: "<parameter=", keyEnd: ">", valueEnd: "</parameter>",
	end: "</function>", line: "\n",
}

// glm is what GLM 4.5 to 4.7 and others write:
//
//	<think>…</think>text<tool_call>f
//	<arg_key>k</arg_key>
//	<arg_value>v</arg_value>
//	</tool_call>
var glm = &Format{
	Name: "glm",
	Markers: []string{"<think>", "</think>", "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>",
		"<|user|>", "<|observation|>"},
	Open:  "<think>",
	Close: "</think>",
	Ends:  []string{"<|user|>", "<|observation|>"},
	Calls: []callSyntax{{open: "<tool_call>", ends: []string{"</tool_call>"}, separator: "\n", parser: taggedCall{
		keyOpen: "<arg_key>", keyEnd: "</arg_key>", valueStart: "<arg_value>", valueEnd: "</arg_value>", line: "\n",
	}}},
}

// minimax is what MiniMax M2 writes.
var minimax = &Format{
	Name:    "minimax",
	Markers: []string{"<think>", "</think>", "<minimax:tool_call>", "</minimax:tool_call>"},
	Open:    "<think>",
	Close:   "</think>",
	Calls: []callSyntax{{
		section: "<minimax:tool_call>", sectionEnd: "</minimax:tool_call>", between: " \t\r\n", pad: "\n", separator: "\n",
		parser: taggedCall{
			nameOpen: `<invoke name="`, nameEnd: `">`,
			keyOpen: `<parameter name="`, keyEnd: `">`, valueEnd: "</parameter>",
			end: "</invoke>",
		},
	}},
}

// dsml is what DeepSeek V3.2 and V4 write. An attribute of each argument tells
// strings from JSON.
var dsml = &Format{
	Name:    "dsml",
	Markers: []string{"<think>", "</think>", "｜DSML｜"},
	Open:    "<think>",
	Close:   "</think>",
	Calls:   []callSyntax{dsmlCalls("function_calls"), dsmlCalls("tool_calls")},
}

func dsmlCalls(section string) callSyntax {
	return callSyntax{
		section: "<｜DSML｜" + section + ">", sectionEnd: "</｜DSML｜" + section + ">",
		between: " \t\r\n", pad: "\n", separator: "\n",
		parser: taggedCall{
			nameOpen: `<｜DSML｜invoke name="`, nameEnd: `">`,
			keyOpen: `<｜DSML｜parameter name="`, keyEnd: `"`, valueEnd: "</｜DSML｜parameter>",
			rawString: ` string="true">`, rawJSON: ` string="false">`,
			end: "</｜DSML｜invoke>",
		},
	}
}
