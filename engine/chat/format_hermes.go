package chat

// hermes is what Hermes 2 and 3, Qwen2.5, Qwen3 and many after them write,
// and what models without a syntax of their own are asked for:
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
		reader: jsonCall{
			name:      []string{"name"},
			arguments: []string{"arguments", "parameters"},
			id:        "id",
		},
	}, {
		// Small models, Qwen2.5-Coder first among them, forget the marks.
		bare:    true,
		unasked: true,
		between: " \t\r\n",
		reader: jsonCall{
			name:      []string{"name"},
			arguments: []string{"arguments", "parameters"},
			first:     []string{"name"},
		},
	}},
}
