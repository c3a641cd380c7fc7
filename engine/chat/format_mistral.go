package chat

// mistral is what the models of Mistral write, older ones a list, newer ones
// a name in front, with an id where the template wants one:
//
//	[TOOL_CALLS][{"name": "f", "arguments": {…}}]
//	[THINK]…[/THINK][TOOL_CALLS]f[CALL_ID]123456789[ARGS]{…}
var mistral = &Format{
	Name:     "mistral",
	Markers:  []string{"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"},
	Open:     "[THINK]",
	Close:    "[/THINK]",
	IDLength: 9, // their templates refuse any other
	Calls: []callSyntax{
		{
			section: "[TOOL_CALLS]", between: " \t\r\n,[]", separator: ", ", list: true,
			reader: jsonCall{name: []string{"name"}, arguments: []string{"arguments"}, id: "id"},
		},
		{open: "[TOOL_CALLS]", reader: namedCall{idMark: "[CALL_ID]", mark: "[ARGS]"}},
	},
}
