package template

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// turn is one message as templates see it: a tool result is a turn of its
// own, and text is one string unless there is a picture beside it.
type turn struct {
	role      engine.Role
	name      string // of the speaker, or of the tool
	text      string
	parts     []engine.Part // Text and seen, in order; nil where there is no picture
	reasoning string
	calls     []engine.ToolCall
	callID    string // of a tool result
	mark      string // a rune of ours behind the text: boundary, continuation or none
}

// conversation is what a template renders.
type conversation struct {
	turns     []turn
	tools     []engine.Tool
	reasoning engine.Reasoning
	complete  bool // nothing is asked for: the last turn is over
}

// continues reports whether the answer goes on where the last turn ends.
func (c *conversation) continues() bool {
	if c.complete || len(c.turns) == 0 {
		return false
	}
	last := c.turns[len(c.turns)-1]
	return last.role == engine.RoleAssistant && len(last.calls) == 0
}

// images counts them.
func (c *conversation) images() int {
	n := 0
	for _, t := range c.turns {
		for _, p := range t.parts {
			if _, ok := p.(seen); ok {
				n++
			}
		}
	}
	return n
}

// opened is c with the continuation for the text of a turn that the answer goes
// on with.
func (c conversation) opened() conversation {
	if !c.continues() {
		return c
	}
	c.turns = slices.Clone(c.turns)
	last := &c.turns[len(c.turns)-1]
	last.text, last.parts, last.mark = "", nil, control.Continuation
	return c
}

// bounded is c with a boundary behind each text, and nothing of a client's that
// templates write behind one: thoughts and arguments, which are left out.
func (c conversation) bounded() conversation {
	c.turns = slices.Clone(c.turns)
	for i := range c.turns {
		c.turns[i] = c.turns[i].bounded()
	}
	return c
}

func (t turn) bounded() turn {
	if t.mark == "" {
		t.mark = control.Boundary
	}
	if t.reasoning != "" {
		t.reasoning = control.Boundary
	}
	t.calls = slices.Clone(t.calls)
	for i := range t.calls {
		t.calls[i].Arguments = engine.NoArguments
	}
	return t
}

// lastText is the text that the conversation ends with.
func (c *conversation) lastText() string {
	if len(c.turns) == 0 {
		return ""
	}
	return c.turns[len(c.turns)-1].text
}

// seen is an image, and the message that it is in.
type seen struct {
	engine.Image
	message int
}

// readTurns makes turns of a client's messages.
func readTurns(messages []engine.Message) []turn {
	var turns []turn
	for i, m := range messages {
		if m.Role != engine.RoleTool {
			turns = append(turns, readTurn(m, i))
			continue
		}
		for _, p := range m.Parts {
			if r, ok := p.(engine.ToolResult); ok {
				turns = append(turns, readResult(r, i))
			}
		}
	}
	return turns
}

// shownParts are the parts of a turn that has a picture; nil: it has none.
func shownParts(parts []engine.Part, message int) []engine.Part {
	if !hasImage(parts) {
		return nil
	}
	var shown []engine.Part
	for _, p := range parts {
		switch p := p.(type) {
		case engine.Text:
			shown = append(shown, p)
		case engine.Image:
			shown = append(shown, seen{p, message})
		}
	}
	return shown
}

func hasImage(parts []engine.Part) bool {
	return slices.ContainsFunc(parts, func(p engine.Part) bool {
		_, ok := p.(engine.Image)
		return ok
	})
}

func readTurn(m engine.Message, index int) turn {
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
	t.parts = shownParts(m.Parts, index)
	return t
}

func readResult(r engine.ToolResult, message int) turn {
	t := turn{role: engine.RoleTool, name: r.Name, callID: r.CallID, text: joinText(r.Parts), parts: shownParts(r.Parts, message)}
	if r.IsError && !strings.HasPrefix(strings.ToLower(t.text), "error") {
		t = t.prefixed("Error: ") // templates have no other place for it
	}
	return t
}

// prefixed puts text in front of a turn's own.
func (t turn) prefixed(text string) turn {
	t.text = text + t.text
	if t.parts != nil {
		t.parts = append([]engine.Part{engine.Text{Text: text}}, t.parts...)
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
		"bos_token":             word(t.bos),
		"eos_token":             word(t.eos),
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

// partText is the text that stands for a part in what a template sees. An
// image is a text too, of one placeholder: what templates write for images is
// for their own processors, in many ways, and some of it any client could
// write as well. llama.cpp puts the model's own marks around the image.
func partText(p engine.Part, mask *control.Mask) string {
	switch p := p.(type) {
	case engine.Text:
		return mask.Text(p.Text)
	case seen:
		return string(mask.Image(&prompt.Image{Message: p.message, Source: p.Image}))
	}
	return ""
}

// joinLines joins texts with a line end each, where there is none already.
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

// masked is the text of a turn for a template, with our mark behind it.
func (t turn) masked(m *control.Mask) string { return m.Text(t.text) + t.mark }

func maskedPart(text string) jinja.Value {
	return dict(pair{"type", word("text")}, pair{"text", word(text)})
}

// call makes the template's value of a call. Arguments that are not a JSON
// object stay the string that they are, where the template can take one.
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

// noParameters stands for a tool without a schema: templates look into it.
var noParameters = json.RawMessage(`{"type": "object", "properties": {}}`)

// toolValue makes the template's value of a tool, out of the client's own
// JSON and in its order.
func toolValue(tool engine.Tool, mask *control.Mask) (jinja.Value, error) {
	raw := tool.Parameters
	if len(raw) == 0 || string(raw) == "null" {
		raw = noParameters
	}
	parameters, err := fromJSON(raw, mask.Text)
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
