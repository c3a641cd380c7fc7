package chat

// deepseek is what DeepSeek R1 and its distilled models write, and in a
// shorter form V3.1 and Cogito:
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
			section: deepseekBegin, sectionEnd: "<｜tool▁calls▁end｜>", between: " \t\r\n", separator: "\n", loose: true,
			open: "<｜tool▁call▁begin｜>", ends: []string{"\n```", "<｜tool▁call▁end｜>"},
			reader: namedCall{prefix: "function<｜tool▁sep｜>", mark: "\n```json\n"},
		},
		{
			section: deepseekBegin, sectionEnd: "<｜tool▁calls▁end｜>", between: " \t\r\n", loose: true,
			open: "<｜tool▁call▁begin｜>", ends: []string{"<｜tool▁call▁end｜>"},
			reader: namedCall{mark: "<｜tool▁sep｜>"},
		},
	},
}

const deepseekBegin = "<｜tool▁calls▁begin｜>"
