package template

import (
	"encoding/json"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/internal/plainjson"
)

// If a template has no tools, the system prompt describes them and asks for calls
// in the hermes format, which most models have seen. Earlier calls and results are
// shown in it too. For templates that show calls but not tools (DeepSeek R1 and
// V3.1) the example is in the template's own syntax.

// fallbackFormat is the output format of models without tool support.
const fallbackFormat = format.Hermes

const (
	toolsIntro = "You can call functions to help with the user's request. These are the functions that exist, one JSON object per line:\n"
	toolsUsage = "\nTo call a function, write its name and its arguments exactly like this:\n"
	toolsOften = "\nSeveral calls may follow each other. Stop after the last one: the results come in the next message. " +
		"If no function helps, answer in plain words."
	fallbackExample = "<tool_call>\n{\"name\": \"function_name\", \"arguments\": {\"argument_name\": \"value\"}}\n</tool_call>"
)

// describeTools describes tools for the system prompt. example shows a call.
func describeTools(tools []engine.Tool, example string) string {
	return listTools(tools) + toolsUsage + example + toolsOften
}

// listTools is the part of it that lists the tools.
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

// callsAsText moves the calls of a turn into its text, and turns a result into a
// user turn.
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

// oneLine removes newlines from valid JSON.
func oneLine(raw []byte) string {
	if !strings.Contains(string(raw), "\n") || !json.Valid(raw) {
		return string(raw)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(string(raw), "\n") {
		b.WriteString(strings.TrimSpace(line))
	}
	return b.String()
}
