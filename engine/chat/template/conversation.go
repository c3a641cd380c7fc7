package template

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// turn is one message as templates see it: each tool result is a turn, and the
// content is one string unless it has images.
type turn struct {
	role      engine.Role
	name      string // of the speaker, or of the tool
	text      string
	parts     []engine.Part // Text and imagePart, in order; nil: no image
	reasoning string
	calls     []engine.ToolCall
	callID    string // of a tool result
	mark      string // after the text: control.Boundary, control.Continuation or none
}

// conversation is what a template renders.
type conversation struct {
	turns     []turn
	tools     []engine.Tool
	reasoning engine.Reasoning
	complete  bool // no generation prompt
}

// continues reports whether the answer continues the last turn.
func (c *conversation) continues() bool {
	if c.complete || len(c.turns) == 0 {
		return false
	}
	last := c.turns[len(c.turns)-1]
	return last.role == engine.RoleAssistant && len(last.calls) == 0
}

// images counts the images.
func (c *conversation) images() int {
	n := 0
	for _, t := range c.turns {
		for _, p := range t.parts {
			if _, ok := p.(imagePart); ok {
				n++
			}
		}
	}
	return n
}

// withContinuation is c with Continuation in place of the text that the answer continues.
func (c conversation) withContinuation() conversation {
	if !c.continues() {
		return c
	}
	c.turns = slices.Clone(c.turns)
	last := &c.turns[len(c.turns)-1]
	last.text, last.parts, last.mark = "", nil, control.Continuation
	return c
}

// withBoundaries is c with a Boundary after each text, and without the reasoning and the
// arguments, which templates write after it.
func (c conversation) withBoundaries() conversation {
	c.turns = slices.Clone(c.turns)
	for i := range c.turns {
		c.turns[i] = c.turns[i].withBoundaries()
	}
	return c
}

func (t turn) withBoundaries() turn {
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

// lastText is the text of the last turn.
func (c *conversation) lastText() string {
	if len(c.turns) == 0 {
		return ""
	}
	return c.turns[len(c.turns)-1].text
}

// imagePart is an image and the index of its message.
type imagePart struct {
	engine.Image
	message int
}

// readTurns converts messages to turns.
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

// shownParts are the texts and images of a turn; nil: it has no image.
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
			shown = append(shown, imagePart{p, message})
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
		t = t.prefixed("Error: ") // templates have no field for errors
	}
	return t
}

// prefixed prepends text to a turn.
func (t turn) prefixed(text string) turn {
	t.text = text + t.text
	if t.parts != nil {
		t.parts = append([]engine.Part{engine.Text{Text: text}}, t.parts...)
	}
	return t
}

// joinText joins the text parts with newlines, as other servers do: most templates
// take one string.
func joinText(parts []engine.Part) string {
	var texts []string
	for _, p := range parts {
		if t, ok := p.(engine.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// partText is the text of a part for a template; that of an image is a
// placeholder. What templates write for images is meant for their own
// processors, and clients could write it too. llama.cpp adds the image tokens.
func partText(p engine.Part, mask *control.Mask) string {
	switch p := p.(type) {
	case engine.Text:
		return mask.Text(p.Text)
	case imagePart:
		return string(mask.Image(&prompt.Image{Message: p.message, Source: p.Image}))
	}
	return ""
}

// masked is the masked text of a turn, and its mark.
func (t turn) masked(m *control.Mask) string { return m.Text(t.text) + t.mark }

// noParameters is the schema of a tool without one: templates read its properties.
var noParameters = json.RawMessage(`{"type": "object", "properties": {}}`)

func schemaOf(tool engine.Tool) json.RawMessage {
	if len(tool.Parameters) == 0 || string(tool.Parameters) == "null" {
		return noParameters
	}
	return tool.Parameters
}

func invalidSchema(index int, err error) error {
	return engine.Errorf(engine.CodeInvalidArgument, "The parameters of the tool are not valid JSON.").
		At(engine.Place{Field: engine.FieldTools, Index: index}).Because(err)
}
