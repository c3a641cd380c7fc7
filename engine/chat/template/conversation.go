package template

import (
	"encoding/json"
	"slices"
	"strings"

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

// masked is the text of a turn for a template, with our mark behind it.
func (t turn) masked(m *control.Mask) string { return m.Text(t.text) + t.mark }

// noParameters stands for a tool without a schema: templates look into it.
var noParameters = json.RawMessage(`{"type": "object", "properties": {}}`)
