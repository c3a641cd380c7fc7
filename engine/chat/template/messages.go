package template

import (
	"slices"
	"strings"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// variables makes the template's variables, for each rendering anew because
// templates may change them.
func (t *Template) variables(c conversation, mask *control.Mask) (map[string]jinja.Value, error) {
	messages := make([]jinja.Value, len(c.turns))
	for i, turn := range c.turns {
		messages[i] = t.message(turn, mask)
	}
	tools := jinja.None()
	if len(c.tools) > 0 {
		list := make([]jinja.Value, len(c.tools))
		for i, tool := range c.tools {
			v, err := toolValue(tool, mask)
			if err != nil {
				return nil, invalidSchema(i, err)
			}
			list[i] = v
		}
		tools = jinja.NewList(list)
	}
	vars := map[string]jinja.Value{
		"messages":              jinja.NewList(messages),
		"tools":                 tools,
		"documents":             jinja.None(),
		"bos_token":             word(t.bos),
		"eos_token":             word(t.eos),
		"add_generation_prompt": jinja.NewBool(!c.complete && !c.continues()),
	}
	t.reasoningVariables(c.reasoning, vars)
	return vars, nil
}

// reasoningVariables sets the variables of all vendors' templates; each reads its
// own.
func (t *Template) reasoningVariables(r engine.Reasoning, vars map[string]jinja.Value) {
	switch r.Mode {
	case engine.ReasoningOn:
		vars["enable_thinking"] = jinja.NewBool(true)
		vars["thinking"] = jinja.NewBool(true)
		vars["thinking_mode"] = word("enabled")
	case engine.ReasoningOff:
		vars["enable_thinking"] = jinja.NewBool(false)
		vars["thinking"] = jinja.NewBool(false)
		vars["thinking_mode"] = word("disabled")
		vars["thinking_budget"] = jinja.NewInt(0)
		vars["reasoning"] = jinja.NewBool(false)
		return
	}
	if effort := t.caps.Effort(r.Effort); effort != "" {
		vars["reasoning_effort"] = word(effort)
		vars["thinking_effort"] = word(effort)
		vars["reasoning_strength"] = word(effort)
	}
}

// Effort is the effort that the template applies for the one asked for, or empty.
func (c Capabilities) Effort(asked string) string {
	if asked == "" {
		return ""
	}
	for _, level := range []string{asked, "high", "low"} {
		if slices.Contains(c.Efforts, level) {
			return level
		}
	}
	return ""
}

// message converts a turn.
func (t *Template) message(turn turn, mask *control.Mask) jinja.Value {
	pairs := []pair{{"role", word(string(turn.role))}}
	if turn.role == engine.RoleTool {
		if turn.name != "" {
			pairs = append(pairs, pair{"name", word(mask.Text(turn.name))})
		}
		pairs = append(pairs, pair{"tool_call_id", word(mask.Text(turn.callID))})
	} else if turn.name != "" {
		pairs = append(pairs, pair{"name", word(mask.Text(turn.name))})
	}
	pairs = append(pairs, pair{"content", t.content(turn, mask)})
	if turn.reasoning != "" {
		v := word(mask.Text(turn.reasoning))
		pairs = append(pairs, pair{"reasoning_content", v}, pair{"reasoning", v}, pair{"thinking", v})
	}
	if len(turn.calls) > 0 {
		calls := make([]jinja.Value, len(turn.calls))
		for i, call := range turn.calls {
			calls[i] = t.call(call, mask)
		}
		pairs = append(pairs, pair{"tool_calls", jinja.NewList(calls)})
	}
	return dict(pairs...)
}

func (t *Template) content(turn turn, mask *control.Mask) jinja.Value {
	if turn.parts == nil {
		switch {
		case turn.text == "" && len(turn.calls) > 0 && t.caps.NullContent:
			return jinja.None()
		case t.caps.TypedContent:
			return jinja.NewList([]jinja.Value{maskedPart(turn.masked(mask))})
		}
		return word(turn.masked(mask))
	}
	var list []jinja.Value
	var texts []string
	for _, p := range turn.parts {
		text := partText(p, mask)
		texts = append(texts, text)
		list = append(list, maskedPart(text))
	}
	if turn.mark != "" {
		texts, list = append(texts, turn.mark), append(list, maskedPart(turn.mark))
	}
	if t.listsParts(turn.role) {
		return jinja.NewList(list)
	}
	return word(joinLines(texts))
}

// listsParts reports whether the template shows every part of a list.
func (t *Template) listsParts(role engine.Role) bool {
	if role == engine.RoleTool {
		return t.caps.ResultParts
	}
	return t.caps.Parts
}

// joinLines joins texts with a newline unless there is one.
func joinLines(texts []string) string {
	var b strings.Builder
	for i, t := range texts {
		if i > 0 && !strings.HasPrefix(t, "\n") && !strings.HasSuffix(texts[i-1], "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(t)
	}
	return b.String()
}

func maskedPart(text string) jinja.Value {
	return dict(pair{"type", word("text")}, pair{"text", word(text)})
}

// call converts a tool call. Arguments that are not a JSON object stay a string if
// the template accepts one.
func (t *Template) call(call engine.ToolCall, mask *control.Mask) jinja.Value {
	arguments := word(mask.Text(call.Arguments))
	if t.caps.ObjectArguments {
		object, err := fromJSON([]byte(call.Arguments), mask.Text)
		switch {
		case err == nil && object.IsDict():
			arguments = object
		case strings.TrimSpace(call.Arguments) == "":
			arguments = jinja.NewDict()
		case !t.caps.StringArguments:
			arguments = dict(pair{"arguments", arguments})
		}
	}
	return dict(
		pair{"id", word(mask.Text(call.ID))},
		pair{"type", word("function")},
		pair{"function", dict(
			pair{"name", word(mask.Text(call.Name))},
			pair{"arguments", arguments},
		)},
	)
}

// toolValue converts a tool. The fields of its schema keep their order.
func toolValue(tool engine.Tool, mask *control.Mask) (jinja.Value, error) {
	parameters, err := fromJSON(schemaOf(tool), mask.Text)
	if err != nil {
		return jinja.Undefined(), err
	}
	return dict(
		pair{"type", word("function")},
		pair{"function", dict(
			pair{"name", word(mask.Text(tool.Name))},
			pair{"description", word(mask.Text(tool.Description))},
			pair{"parameters", parameters},
		)},
	), nil
}
