package template

import (
	"encoding/json"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/internal/plainjson"
)

// A template that knows nothing of tools gets them in words: the system text
// describes them and asks for calls in the syntax of the hermes format, which
// most models have seen, and earlier calls and results are shown in it too.
// Templates that show calls but not tools (DeepSeek R1 and V3.1) get the words
// with an example in the template's own syntax.

// fallbackFormat is the format in which such a model is asked to call.
const fallbackFormat = format.Hermes

const (
	toolsIntro = "You can call functions to help with the user's request. These are the functions that exist, one JSON object per line:\n"
	toolsUsage = "\nTo call a function, write its name and its arguments exactly like this:\n"
	toolsOften = "\nSeveral calls may follow each other. Stop after the last one: the results come in the next message. " +
		"If no function helps, answer in plain words."
	fallbackExample = "<tool_call>\n{\"name\": \"function_name\", \"arguments\": {\"argument_name\": \"value\"}}\n</tool_call>"
)

// describeTools is the text that makes tools known to a model whose template
// cannot. example shows a call.
func describeTools(tools []engine.Tool, example string) string {
	return listTools(tools) + toolsUsage + example + toolsOften
}

// listTools is the part of it that says what tools there are.
func listTools(tools []engine.Tool) string {
	var b strings.Builder
	b.WriteString(toolsIntro)
	for _, tool := range tools {
		parameters := tool.Parameters
		if len(parameters) == 0 {
			parameters = noParameters
		}
		b.WriteString(`{"name": ` + plainjson.Quote(tool.Name))
		if tool.Description != "" {
			b.WriteString(`, "description": ` + plainjson.Quote(tool.Description))
		}
		b.WriteString(`, "parameters": ` + oneLine(parameters) + "}\n")
	}
	return b.String()
}

// callsAsText writes the calls of a turn into its text, and makes a result the
// words of the user.
func callsAsText(t turn) turn {
	if t.role == engine.RoleTool {
		const start, end = "<tool_response>\n", "\n</tool_response>"
		result := turn{role: engine.RoleUser, text: t.text, parts: t.parts}.prefixed(start)
		result.text += end
		if result.parts != nil {
			result.parts = append(result.parts, engine.Text{Text: end})
		}
		return result
	}
	var texts []string
	if t.text != "" {
		texts = append(texts, t.text)
	}
	for _, call := range t.calls {
		arguments := "{}"
		if call.Arguments != "" {
			arguments = oneLine([]byte(call.Arguments))
		}
		texts = append(texts, "<tool_call>\n{\"name\": "+plainjson.Quote(call.Name)+", \"arguments\": "+arguments+"}\n</tool_call>")
	}
	t.text, t.calls = strings.Join(texts, "\n"), nil
	return t
}

// oneLine takes the line ends out of JSON text; other text stays as it is.
func oneLine(raw []byte) string {
	if !strings.Contains(string(raw), "\n") || !json.Valid(raw) {
		return string(raw)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(string(raw), "\n") {
		b.WriteString(strings.TrimSpace(line)) // a line end in JSON stands between tokens
	}
	return b.String()
}
