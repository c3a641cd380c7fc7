package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine"
)

// turn is one message as templates see it: a tool result is a turn of its
// own, and text is one string unless there is a picture beside it.
type turn struct {
	role      engine.Role
	name      string // of the speaker, or of the tool
	text      string
	parts     []engine.Part // Text and Image, in order; nil where there is no picture
	reasoning string
	calls     []engine.ToolCall
	callID    string // of a tool result
}

// conversation is what a template renders.
type conversation struct {
	turns     []turn
	tools     []engine.Tool
	reasoning engine.Reasoning
	complete  bool // nothing is asked for: the last turn is over
}

// continues says whether the answer goes on where the last turn ends.
func (c *conversation) continues() bool {
	if c.complete || len(c.turns) == 0 {
		return false
	}
	last := c.turns[len(c.turns)-1]
	return last.role == engine.RoleAssistant && len(last.calls) == 0
}

// lastText is the text that the conversation ends with.
func (c *conversation) lastText() string {
	if len(c.turns) == 0 {
		return ""
	}
	return c.turns[len(c.turns)-1].text
}

// continuation stands for the text of a turn that the answer goes on with: the
// prompt ends where it is. The masker lets no client write it.
const continuation = string(rune(lastPlaceholder))

// readTurns makes turns of a client's messages.
func readTurns(messages []engine.Message) []turn {
	var turns []turn
	for _, m := range messages {
		if m.Role != engine.RoleTool {
			turns = append(turns, readTurn(m))
			continue
		}
		for _, p := range m.Parts {
			if r, ok := p.(engine.ToolResult); ok {
				turns = append(turns, readResult(r))
			}
		}
	}
	return turns
}

func hasImage(parts []engine.Part) bool {
	return slices.ContainsFunc(parts, func(p engine.Part) bool {
		_, ok := p.(engine.Image)
		return ok
	})
}

func readTurn(m engine.Message) turn {
	t := turn{role: m.Role, name: m.Name, text: joinText(m.Parts)}
	var reasoning []string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case engine.ReasoningText:
			reasoning = append(reasoning, p.Text)
		case engine.ToolCall:
			t.calls = append(t.calls, p)
		}
	}
	t.reasoning = strings.Join(reasoning, "\n")
	if hasImage(m.Parts) {
		t.parts = m.Parts
	}
	return t
}

func readResult(r engine.ToolResult) turn {
	t := turn{role: engine.RoleTool, name: r.Name, callID: r.CallID, text: joinText(r.Parts)}
	if r.IsError && !strings.HasPrefix(strings.ToLower(t.text), "error") {
		t.text = "Error: " + t.text // templates have no other place for it
	}
	if hasImage(r.Parts) {
		t.parts = r.Parts
	}
	return t
}

// joinText joins the text parts with line ends, as other servers do: the
// parts are separate blocks, and one string is all that most templates take.
func joinText(parts []engine.Part) string {
	var texts []string
	for _, p := range parts {
		if t, ok := p.(engine.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// variables makes what the template sees. It is made anew for each
// rendering, because templates may change it.
func (t *Template) variables(c conversation, mask *masker) (map[string]jinja.Value, error) {
	messages := make([]jinja.Value, len(c.turns))
	for i, turn := range c.turns {
		if i == len(c.turns)-1 && c.continues() {
			turn.text, turn.parts = continuation, nil
		}
		messages[i] = t.message(turn, mask)
	}
	tools := jinja.None()
	if len(c.tools) > 0 {
		list := make([]jinja.Value, len(c.tools))
		for i, tool := range c.tools {
			v, err := toolValue(tool, mask)
			if err != nil {
				return nil, engine.Errorf(engine.CodeInvalidArgument, "The parameters of the tool are not valid JSON.").
					At(engine.Place{Field: engine.FieldTools, Index: i}).Because(err)
			}
			list[i] = v
		}
		tools = jinja.NewList(list)
	}
	vars := map[string]jinja.Value{
		"messages":              jinja.NewList(messages),
		"tools":                 tools,
		"documents":             jinja.None(),
		"bos_token":             word(t.info.BOS),
		"eos_token":             word(t.info.EOS),
		"add_generation_prompt": jinja.NewBool(!c.complete && !c.continues()),
	}
	t.reasoningVariables(c.reasoning, vars)
	return vars, nil
}

// reasoningVariables sets what templates of different makers ask for. A
// template reads its own and does not see the others.
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
	if effort := t.effort(r.Effort); effort != "" {
		vars["reasoning_effort"] = word(effort)
		vars["thinking_effort"] = word(effort)
		vars["reasoning_strength"] = word(effort)
	}
}

// effort is the level that the template takes for the one asked for, or empty.
func (t *Template) effort(asked string) string {
	if asked == "" {
		return ""
	}
	for _, level := range []string{asked, "high", "low"} {
		if slices.Contains(t.caps.Efforts, level) {
			return level
		}
	}
	return ""
}

// message makes the template's value of one turn.
func (t *Template) message(turn turn, mask *masker) jinja.Value {
	pairs := []pair{{"role", word(string(turn.role))}}
	if turn.role == engine.RoleTool {
		if turn.name != "" {
			pairs = append(pairs, pair{"name", word(mask.mask(turn.name))})
		}
		pairs = append(pairs, pair{"tool_call_id", word(mask.mask(turn.callID))})
	} else if turn.name != "" {
		pairs = append(pairs, pair{"name", word(mask.mask(turn.name))})
	}
	pairs = append(pairs, pair{"content", t.content(turn, mask)})
	if turn.reasoning != "" {
		v := word(mask.mask(turn.reasoning))
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

func (t *Template) content(turn turn, mask *masker) jinja.Value {
	if turn.parts == nil {
		switch {
		case turn.text == "" && len(turn.calls) > 0 && t.caps.NullContent:
			return jinja.None()
		case t.caps.TypedContent:
			return jinja.NewList([]jinja.Value{textPart(turn.text, mask)})
		}
		return word(turn.mask(mask))
	}
	var list []jinja.Value
	for _, p := range turn.parts {
		switch p := p.(type) {
		case engine.Text:
			list = append(list, textPart(p.Text, mask))
		case engine.Image:
			list = append(list, dict(pair{"type", word("image")}))
		}
	}
	return jinja.NewList(list)
}

// mask masks the text of a turn, but for the mark of a continuation, which is
// already out of the client's reach.
func (t turn) mask(m *masker) string {
	if t.text == continuation {
		return continuation
	}
	return m.mask(t.text)
}

func textPart(text string, mask *masker) jinja.Value {
	return dict(pair{"type", word("text")}, pair{"text", word(turn{text: text}.mask(mask))})
}

// call makes the template's value of a call. Arguments that are not a JSON
// object stay the string that they are, where the template can take one.
func (t *Template) call(call engine.ToolCall, mask *masker) jinja.Value {
	arguments := word(mask.mask(call.Arguments))
	if t.caps.ObjectArguments {
		object, err := fromJSON([]byte(call.Arguments), mask.mask)
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
		pair{"id", word(mask.mask(call.ID))},
		pair{"type", word("function")},
		pair{"function", dict(
			pair{"name", word(mask.mask(call.Name))},
			pair{"arguments", arguments},
		)},
	)
}

// noParameters stands for a tool without a schema: templates look into it.
var noParameters = json.RawMessage(`{"type": "object", "properties": {}}`)

// toolValue makes the template's value of a tool, out of the client's own
// JSON and in its order.
func toolValue(tool engine.Tool, mask *masker) (jinja.Value, error) {
	raw := tool.Parameters
	if len(raw) == 0 || string(raw) == "null" {
		raw = noParameters
	}
	parameters, err := fromJSON(raw, mask.mask)
	if err != nil {
		return jinja.Undefined(), err
	}
	return dict(
		pair{"type", word("function")},
		pair{"function", dict(
			pair{"name", word(mask.mask(tool.Name))},
			pair{"description", word(mask.mask(tool.Description))},
			pair{"parameters", parameters},
		)},
	), nil
}
