package template

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// The words of the made-up conversations. They are unlike anything that a
// template writes by itself, and no template trims or quotes them.
const (
	probeSystem    = "SYSTEMWORDa"
	probeSystem2   = "SYSTEMWORDb"
	probeUser      = "USERWORDa"
	probeUser2     = "USERWORDb"
	probeAnswer    = "ANSWERWORD"
	probeReasoning = "REASONWORD"
	probeResult    = "RESULTWORD"

	probeTool, probeTool2   = "alpha_tool", "gamma_tool"
	probeKey, probeKey2     = "first_key", "other_key"
	probeValue, probeValue2 = "VALUEWORDa", "WORTHWORDb"
	probeID                 = "call00001" // as the strictest template wants it
	probeLongID             = "call_0123456789abcdefghij"
)

// prober finds out what one template can do. It changes the template's
// capabilities as it goes, so that each step renders with what is known.
type prober struct {
	t      *Template
	ctx    context.Context
	source string
	broken error // why the rest of the probe makes no sense
}

// render renders whole turns, with the tools of the probe if there are any.
func (p *prober) render(c conversation) (string, bool) {
	if p.broken != nil {
		return "", false
	}
	mask := control.NewMask(p.t.special)
	text, err := p.t.text(p.ctx, c, mask)
	if err == nil {
		return mask.Unmask(text), true
	}
	if errors.Is(err, bounds.ErrSlow) || errors.Is(err, bounds.ErrStuck) || bounds.TookTooMuch(err) {
		p.broken = err
	}
	return "", false
}

// shows reports whether a conversation is rendered with all the words, in order.
func (p *prober) shows(c conversation, words ...string) bool {
	text, ok := p.render(c)
	for _, w := range words {
		i := strings.Index(text, w)
		if !ok || i < 0 {
			return false
		}
		text = text[i+len(w):]
	}
	return ok
}

func user(text string) turn { return turn{role: engine.RoleUser, text: text} }

func assistant(text string) turn { return turn{role: engine.RoleAssistant, text: text} }

func system(text string) turn { return turn{role: engine.RoleSystem, text: text} }

func calling(text string, calls ...engine.ToolCall) turn {
	return turn{role: engine.RoleAssistant, text: text, calls: calls}
}

func probeCall(id string) engine.ToolCall {
	return engine.ToolCall{ID: id, Name: probeTool, Arguments: fmt.Sprintf(`{"%s": "%s"}`, probeKey, probeValue)}
}

func probeCall2(id string) engine.ToolCall {
	return engine.ToolCall{ID: id, Name: probeTool2, Arguments: fmt.Sprintf(`{"%s": "%s"}`, probeKey2, probeValue2)}
}

// probeTools describes the two tools that the made-up conversations have.
func probeTools() []engine.Tool {
	schema := fmt.Sprintf(`{"type": "object", "properties": {"%s": {"type": "string", "description": "x"}, `+
		`"%s": {"type": "string", "description": "y"}}, "required": []}`, probeKey, probeKey2)
	return []engine.Tool{
		{Name: probeTool, Description: "d", Parameters: []byte(schema)},
		{Name: probeTool2, Description: "d", Parameters: []byte(schema)},
	}
}

// finished is a conversation that asks for nothing.
func finished(turns ...turn) conversation { return conversation{turns: turns, complete: true} }

func (c conversation) withTools() conversation {
	c.tools = probeTools()
	return c
}

// withParts gives a turn a content of two parts.
func withParts(t turn) turn {
	t.parts = []engine.Part{engine.Text{Text: probeUser}, engine.Text{Text: probeUser2}}
	return t
}

// showsParts reports whether both parts are shown, and nothing of the list that
// they are in.
func (p *prober) showsParts(c conversation) bool {
	text, ok := p.render(c)
	_, text, ok1 := strings.Cut(text, probeUser)
	between, _, ok2 := strings.Cut(text, probeUser2)
	return ok && ok1 && ok2 && !strings.Contains(between, "text")
}

func (p *prober) callAndResult(id string) conversation {
	return conversation{turns: []turn{
		user(probeUser),
		calling("", probeCall(id)),
		{role: engine.RoleTool, name: probeTool, callID: id, text: probeResult},
	}}.withTools()
}

// has reports whether the source holds all the words, or the model has them as
// control tokens: some templates leave the markup of calls to the client.
func (p *prober) has(words ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		return !strings.Contains(p.source, w) && !slices.Contains(p.t.model.Control, w)
	})
}
