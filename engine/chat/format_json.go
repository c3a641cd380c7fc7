package chat

// kimi is what Kimi K2 writes. The id is part of the call, and the opening of
// the section is often forgotten:
//
//	<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}<|tool_call_end|><|tool_calls_section_end|>
var kimi = &Format{
	Name: "kimi",
	Markers: []string{"<think>", "</think>", "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>",
		"<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"},
	Open:  "<think>",
	Close: "</think>",
	Calls: []callSyntax{{
		section: "<|tool_calls_section_begin|>", sectionEnd: "<|tool_calls_section_end|>", between: " \t\r\n", loose: true,
		open: "<|tool_call_begin|>", ends: []string{"<|tool_call_end|>"},
		reader: namedCall{mark: "<|tool_call_argument_begin|>", indexed: true},
	}},
}

// functionary is what Functionary 3.1 writes: <function=f>{…}</function>.
var functionary = &Format{
	Name:  "functionary",
	Calls: []callSyntax{{open: "<function=", ends: []string{"</function>"}, reader: namedCall{mark: ">"}}},
}

// commandR is what Command R7B and its successors write. The text has marks
// of its own:
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
		section: "<|START_ACTION|>", sectionEnd: "<|END_ACTION|>", between: " \t\r\n,[]", separator: ", ", list: true,
		reader: jsonCall{name: []string{"tool_name"}, arguments: []string{"parameters"}},
	}},
}

// apertus is what Apertus writes: the name is the only member of the object.
var apertus = &Format{
	Name:    "apertus",
	Markers: []string{"<|inner_prefix|>", "<|inner_suffix|>", "<|tools_prefix|>", "<|tools_suffix|>"},
	Open:    "<|inner_prefix|>",
	Close:   "<|inner_suffix|>",
	Calls: []callSyntax{{
		section: "<|tools_prefix|>", sectionEnd: "<|tools_suffix|>", between: " \t\r\n,[]", separator: ", ", list: true,
		reader: jsonCall{},
	}},
}

// nemotron is what Nemotron Nano v2 writes: <TOOLCALL>[{…}]</TOOLCALL>.
var nemotron = &Format{
	Name:    "nemotron",
	Markers: []string{"<think>", "</think>", "<TOOLCALL>", "</TOOLCALL>"},
	Open:    "<think>",
	Close:   "</think>",
	Calls: []callSyntax{{
		section: "<TOOLCALL>", sectionEnd: "</TOOLCALL>", between: " \t\r\n,[]", separator: ", ", list: true,
		reader: plainJSONCall,
	}},
}

// granite is what Granite 3 writes: <|tool_call|>[{…}].
var granite = &Format{
	Name:    "granite",
	Markers: []string{"<think>", "</think>", "<|tool_call|>"},
	Open:    "<think>",
	Close:   "</think>",
	Calls: []callSyntax{{
		section: "<|tool_call|>", between: " \t\r\n,[]", separator: ", ", list: true,
		reader: plainJSONCall,
	}},
}

var plainJSONCall = jsonCall{name: []string{"name"}, arguments: []string{"arguments", "parameters"}, id: "id"}
