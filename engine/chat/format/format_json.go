package format

// commandR is what Command R7B and its successors write. The text has delimiters
// too:
//
//	<|START_THINKING|>…<|END_THINKING|><|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {…}}]<|END_ACTION|>
//	<|START_RESPONSE|>text<|END_RESPONSE|>
var commandR = &Format{
	Name: "command-r",
	Markers: []string{"<|START_THINKING|>", "<|END_THINKING|>", "<|START_ACTION|>", "<|END_ACTION|>",
		"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"},
	Open:   "<|START_THINKING|>",
	Close:  "<|END_THINKING|>",
	Silent: []string{"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"},
	Calls: []callSyntax{{
		section: "<|START_ACTION|>", sectionEnd: "<|END_ACTION|>", between: " \t\r\n,[]", separator: ", ", array: true,
		parser: jsonCall{name: []string{"tool_name"}, arguments: []string{"parameters"}},
	}},
}

// apertus is what Apertus writes: [{"f": {…}}].
var apertus = &Format{
	Name:    "apertus",
	Markers: []string{"<|inner_prefix|>", "<|inner_suffix|>", "<|tools_prefix|>", "<|tools_suffix|>"},
	Open:    "<|inner_prefix|>",
	Close:   "<|inner_suffix|>",
	Calls: []callSyntax{{
		section: "<|tools_prefix|>", sectionEnd: "<|tools_suffix|>", between: " \t\r\n,[]", separator: ", ", array: true,
		parser: jsonCall{},
	}},
}

// nemotron is what Nemotron Nano v2 writes: <TOOLCALL>[{…}]</TOOLCALL>.
var nemotron = &Format{
	Name:    "nemotron",
	Markers: []string{"<think>", "</think>", "<TOOLCALL>", "</TOOLCALL>"},
	Open:    "<think>",
	Close:   "</think>",
	Calls: []callSyntax{{
		section: "<TOOLCALL>", sectionEnd: "</TOOLCALL>", between: " \t\r\n,[]", separator: ", ", array: true,
		parser: plainJSONCall,
	}},
}

// granite is what Granite 3 writes: <|tool_call|>[{…}].
var granite = &Format{
	Name:    "granite",
	Markers: []string{"<think>", "</think>", "<|tool_call|>"},
	Open:    "<think>",
	Close:   "</think>",
	Calls: []callSyntax{{
		section: "<|tool_call|>", between: " \t\r\n,[]", separator: ", ", array: true,
		parser: plainJSONCall,
	}},
}

var plainJSONCall = jsonCall{name: []string{"name"}, arguments: []string{"arguments", "parameters"}, id: "id"}

// hermes is what Hermes 2 and 3, Qwen2.5, Qwen3 and many others write. Models
// without a call syntax are prompted to use it:
//
//	<think>…</think>text<tool_call>
//	{"name": "f", "arguments": {…}}
//	</tool_call>
var hermes = &Format{
	Name:    "hermes",
	Markers: []string{"<think>", "</think>", "<tool_call>", "</tool_call>"},
	Open:    "<think>",
	Close:   "</think>",
	Calls: []callSyntax{{
		open:      "<tool_call>",
		ends:      []string{"</tool_call>"},
		pad:       "\n",
		separator: "\n",
		parser:    plainJSONCall,
	}, {
		// Small models, Qwen2.5-Coder above all, omit the tags.
		bare:      true,
		parseOnly: true,
		between:   " \t\r\n",
		parser: jsonCall{
			name:      []string{"name"},
			arguments: []string{"arguments", "parameters"},
			first:     []string{"name"},
		},
	}},
}

// llama3 is what Llama 3.1 to 3.3 write: a call is the whole answer, sometimes
// behind the token of built-in tools.
//
//	{"name": "f", "parameters": {…}}
//	<|python_tag|>{"name": "f", "parameters": {…}}
var llama3 = &Format{
	Name:    "llama3",
	Markers: []string{"<|python_tag|>"},
	Calls: []callSyntax{
		{bare: true, between: " \t\r\n;", separator: "; ", parser: llama3Call},
		{open: "<|python_tag|>", parser: llama3Call},
	},
}

var llama3Call = jsonCall{
	name:      []string{"name", "function"},
	arguments: []string{"parameters", "arguments"},
	first:     []string{"name", "type", "function", "parameters", "arguments"},
}

// mistral is what Mistral's models write: older ones an array, newer ones the name
// first, and an id if the template has one:
//
//	[TOOL_CALLS][{"name": "f", "arguments": {…}}]
//	[THINK]…[/THINK][TOOL_CALLS]f[CALL_ID]123456789[ARGS]{…}
var mistral = &Format{
	Name:     "mistral",
	Markers:  []string{"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"},
	Open:     "[THINK]",
	Close:    "[/THINK]",
	IDLength: 9, // the templates refuse any other
	Calls: []callSyntax{
		{
			section: "[TOOL_CALLS]", between: " \t\r\n,[]", separator: ", ", array: true,
			parser: jsonCall{name: []string{"name"}, arguments: []string{"arguments"}, id: "id"},
		},
		{open: "[TOOL_CALLS]", parser: namedCall{idMark: "[CALL_ID]", mark: "[ARGS]"}},
	},
}
