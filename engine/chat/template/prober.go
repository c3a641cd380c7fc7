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

// The words of the probe's conversations. No template writes them itself, nor
// trims or quotes them.
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
	probeID                 = "call00001" // valid in the strictest template
	probeLongID             = "call_0123456789abcdefghij"
)

// prober probes one template. It sets the capabilities as it goes, since each step
// renders with those found before.
type prober struct {
	t      *Template
	ctx    context.Context
	source string
	err    error // ends the probe
}

// render renders a conversation, and reports whether the template accepts it.
func (p *prober) render(c conversation) (string, bool) {
	if p.err != nil {
		return "", false
	}
	mask := control.NewMask(p.t.special)
	text, err := p.t.text(p.ctx, c, mask)
	if err == nil {
		return mask.Unmask(text), true
	}
	if errors.Is(err, bounds.ErrTimeout) || errors.Is(err, bounds.ErrStuck) || bounds.LimitExceeded(err) {
		p.err = err
	}
	return "", false
}

// shows reports whether the rendering has all the words, in order.
func (p *prober) shows(c conversation, words ...string) bool {
	text, ok := p.render(c)
	return ok && wordsInOrder(text, words...)
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

// probeTools are the tools of the probe's conversations.
func probeTools() []engine.Tool {
	schema := fmt.Sprintf(`{"type": "object", "properties": {"%s": {"type": "string", "description": "x"}, `+
		`"%s": {"type": "string", "description": "y"}}, "required": []}`, probeKey, probeKey2)
	return []engine.Tool{
		{Name: probeTool, Description: "d", Parameters: []byte(schema)},
		{Name: probeTool2, Description: "d", Parameters: []byte(schema)},
	}
}

// finished is a conversation without generation prompt.
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

// showsParts reports whether both parts are shown, and not the list as such.
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

// has reports whether each word is in the source or a special token of the model:
// some templates leave the markup of calls to the client.
func (p *prober) has(words ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		return !strings.Contains(p.source, w) && !slices.Contains(p.t.model.Control, w)
	})
}
