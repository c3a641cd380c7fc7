package chat

// llama3 is what Llama 3.1 to 3.3 write: a call is the whole answer, with or
// without the mark of a built-in tool in front.
//
//	{"name": "f", "parameters": {…}}
//	<|python_tag|>{"name": "f", "parameters": {…}}
var llama3 = &Format{
	Name:    "llama3",
	Markers: []string{"<|python_tag|>"},
	Calls: []callSyntax{
		{bare: true, between: " \t\r\n;", separator: "; ", reader: llama3Call},
		{open: "<|python_tag|>", reader: llama3Call},
	},
}

var llama3Call = jsonCall{
	name:      []string{"name", "function"},
	arguments: []string{"parameters", "arguments"},
	first:     []string{"name", "type", "function", "parameters", "arguments"},
}
