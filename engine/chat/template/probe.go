package template

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// Capabilities are what a chat template can show, found by rendering made-up
// conversations and looking for their words in the prompt.
type Capabilities struct {
	System         bool // a system turn in front
	SystemAnywhere bool // system turns at any place, several of them too
	Developer      bool // the role developer, as something of its own
	TypedContent   bool // content must be a list of parts, never a string
	Parts          bool // content may be a list of parts
	ResultParts    bool // that of a tool result may, too

	Tools           bool // descriptions of tools
	ToolsLast       bool // only where a user has the last word
	ToolCalls       bool // earlier calls and their results
	ParallelCalls   bool // several calls in one turn
	ObjectArguments bool // arguments of a call want to be an object, not JSON text
	StringArguments bool // they may be a string, whatever is in it
	NullContent     bool // content beside calls must be null, not empty
	ShortIDs        bool // ids of calls must be nine letters and digits

	ThinkingSwitch bool     // thinking can be turned on and off
	Efforts        []string // levels of thinking that the template accepts: of low, medium and high

	Syntax format.Syntax
}

// Capabilities returns what the template can show. The caller must not change
// the slices in it.
func (t *Template) Capabilities() Capabilities { return t.caps }

// Format names the output format that a model with this template writes.
func (t *Template) Format() string { return t.format }

// FIM returns how the template marks a gap in a text; zero: it does not say.
func (t *Template) FIM() prompt.FIM { return t.fim }

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

var errBlindTemplate = errors.New("the chat template does not show what the user says")

// prober finds out what one template can do. It changes the template's
// capabilities as it goes, so that each step renders with what is known.
type prober struct {
	t      *Template
	ctx    context.Context
	source string
	broken error // why the rest of the probe makes no sense
}

// probe fills in the capabilities, the format and the header.
func (t *Template) probe(source string) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), bounds.MaxTime, bounds.ErrSlow)
	defer cancel()
	p := &prober{t: t, ctx: ctx, source: source}
	if !p.content() {
		return cmp.Or(p.broken, errBlindTemplate)
	}
	p.roles()
	p.tools()
	p.thinking()
	t.caps.Syntax = p.syntax()
	t.header = p.header()
	t.format = p.format()
	t.example = t.caps.example()
	if t.golang != nil && p.broken == nil {
		p.goRest()
	}
	return p.broken
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

func user(text string) turn      { return turn{role: engine.RoleUser, text: text} }
func assistant(text string) turn { return turn{role: engine.RoleAssistant, text: text} }
func system(text string) turn    { return turn{role: engine.RoleSystem, text: text} }

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

func (p *prober) content() bool {
	for _, typed := range []bool{false, true} {
		p.t.caps.TypedContent = typed
		if p.shows(conversation{turns: []turn{user(probeUser)}}, probeUser) {
			p.t.caps.Parts = true
			p.t.caps.Parts = p.showsParts(conversation{turns: []turn{withParts(user(""))}})
			return true
		}
	}
	return false
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

func (p *prober) roles() {
	caps := &p.t.caps
	caps.System = p.shows(conversation{turns: []turn{system(probeSystem), user(probeUser)}}, probeSystem, probeUser)
	caps.SystemAnywhere = caps.System && !p.t.repeats() && p.shows(conversation{turns: []turn{
		system(probeSystem), system(probeSystem2), user(probeUser), assistant(probeAnswer), system(probeSystem2), user(probeUser2),
	}}, probeSystem, probeSystem2, probeUser, probeAnswer, probeSystem2, probeUser2)

	// ChatML templates print any role; only one that names it knows it. Where
	// it is another name for the user it is no help.
	if !strings.Contains(p.source, `"developer"`) && !strings.Contains(p.source, `'developer'`) {
		return
	}
	developer := turn{role: engine.RoleDeveloper, text: probeSystem}
	as := func(first turn) string {
		text, _ := p.render(conversation{turns: []turn{first, user(probeUser)}})
		return text
	}
	caps.Developer = p.shows(conversation{turns: []turn{developer, user(probeUser)}}, probeSystem, probeUser) &&
		as(developer) != as(user(probeSystem)) && as(developer) != as(system(probeSystem))
}

// tools finds out about tools and about calls. Some templates show only the
// latter, and leave it to the system text to say which tools there are.
func (p *prober) tools() {
	caps := &p.t.caps
	caps.Tools = p.shows(conversation{turns: []turn{user(probeUser)}}.withTools(), probeTool)
	for _, null := range []bool{false, true} {
		for _, object := range []bool{true, false} {
			caps.NullContent, caps.ObjectArguments = null, object
			if p.showsCall() {
				caps.ToolCalls = true
				p.calls()
				return
			}
		}
	}
	caps.NullContent, caps.ObjectArguments = false, false
}

// showsCall reports whether a call and its result are shown, and the arguments
// as they are, not quoted once more.
func (p *prober) showsCall() bool {
	text, ok := p.render(p.callAndResult(probeID))
	if !ok {
		return false
	}
	turns, ok := p.render(finished(user(probeUser)).withTools())
	if !ok {
		return false
	}
	text = text[commonPrefix(text, turns):]
	quoted := strings.Contains(text, `\"`+probeKey) || strings.Contains(text, `'`+probeKey+`'`)
	return strings.Contains(text, probeTool) && strings.Contains(text, probeValue) && strings.Contains(text, probeResult) && !quoted
}

func (p *prober) callAndResult(id string) conversation {
	return conversation{turns: []turn{
		user(probeUser),
		calling("", probeCall(id)),
		{role: engine.RoleTool, name: probeTool, callID: id, text: probeResult},
	}}.withTools()
}

// calls finds the finer points of a template that shows calls.
func (p *prober) calls() {
	caps := &p.t.caps
	if p.t.golang != nil {
		p.goCalls()
	}
	caps.ShortIDs = !p.shows(p.callAndResult(probeLongID), probeValue, probeResult)
	caps.ParallelCalls = p.shows(finished(user(probeUser), calling("", probeCall(probeID), probeCall2(probeID))).withTools(),
		probeValue, probeValue2)
	result := p.callAndResult(probeID)
	result.turns[0], result.turns[2] = user(probeSystem), withParts(result.turns[2])
	caps.ResultParts = true
	caps.ResultParts = p.showsParts(result)
	odd := probeCall(probeID)
	odd.Arguments = probeValue2
	caps.StringArguments = true
	caps.StringArguments = p.shows(finished(user(probeUser), calling("", odd)).withTools(), probeValue2)
}

func (p *prober) thinking() {
	asked := func(r engine.Reasoning) (string, bool) {
		return p.render(conversation{turns: []turn{system(probeSystem), user(probeUser)}, reasoning: r})
	}
	on, ok1 := asked(engine.Reasoning{Mode: engine.ReasoningOn})
	off, ok2 := asked(engine.Reasoning{Mode: engine.ReasoningOff})
	p.t.caps.ThinkingSwitch = ok1 && ok2 && on != off

	var accepted []string
	matters := false
	for _, level := range []string{"low", "medium", "high"} {
		p.t.caps.Efforts = []string{level}
		text, ok := asked(engine.Reasoning{Mode: engine.ReasoningOn, Effort: level})
		if ok {
			accepted = append(accepted, level)
			matters = matters || text != on
		}
	}
	p.t.caps.Efforts = nil
	if matters {
		p.t.caps.Efforts = accepted
	}
}

// header finds what the template writes in front of each turn of the
// assistant: what follows the user's turn both when an answer is asked for
// and when one is shown. Reasoning that is opened there is part of the answer.
func (p *prober) header() string {
	asked, ok1 := p.render(conversation{turns: []turn{user(probeUser)}})
	shown, ok2 := p.render(finished(user(probeUser), assistant(probeAnswer)))
	alone, ok3 := p.render(finished(user(probeUser)))
	if !ok1 || !ok2 || !ok3 {
		return ""
	}
	_, asked, _ = cutLast(asked, probeUser)
	shown, _, _ = cutLast(shown, probeAnswer)
	_, shown, _ = cutLast(shown, probeUser)
	_, alone, _ = cutLast(alone, probeUser)
	both := asked[:wholeMarkers(asked, commonPrefix(asked, shown))]
	if p.t.golang == nil {
		both = both[wholeMarkers(both, commonPrefix(both, alone)):]
	} else { // it always asks for an answer, so that the end of the user's turn cannot be told apart
		both = strings.TrimPrefix(both, p.t.caps.Syntax.ReasoningEnd)
	}
	for _, mark := range []string{p.t.caps.Syntax.ReasoningStart, p.t.caps.Syntax.ReasoningEnd} {
		if mark != "" {
			both, _, _ = strings.Cut(both, mark)
		}
	}
	return both
}

// fingerprints are strings that only models of one output format have, in the
// order in which they are looked for: all of one row must be there, and not
// the one that it excludes.
var fingerprints = []struct {
	format  string
	all     []string
	without string
}{
	{format: "harmony", all: []string{"<|channel|>", "<|start|>", "<|message|>"}},
	{format: "dsml", all: []string{"｜DSML｜", "invoke name="}},
	{format: "deepseek", all: []string{"<｜tool▁calls▁begin｜>"}},
	{format: "mistral", all: []string{"[TOOL_CALLS]"}},
	{format: "gemma", all: []string{"<|tool_call>", "call:"}},
	{format: "gemma", all: []string{"<start_function_call>"}},
	{format: "kimi", all: []string{"<|tool_calls_section_begin|>"}},
	{format: "minimax", all: []string{"<minimax:tool_call>"}},
	{format: "command-r", all: []string{"<|START_ACTION|>"}},
	{format: "apertus", all: []string{"<|tools_prefix|>"}},
	{format: "nemotron", all: []string{"<TOOLCALL>"}},
	{format: "granite", all: []string{"<|tool_call|>"}},
	{format: "lfm2", all: []string{"<|tool_call_start|>"}},
	{format: "olmo3", all: []string{"<function_calls>"}, without: "DSML"},
	{format: "glm", all: []string{"<tool_call>", "<arg_key>"}},
	{format: "qwen-coder", all: []string{"<tool_call>", "<function=", "<parameter="}},
	{format: "functionary", all: []string{"<function=", "</function>"}, without: "<parameter="},
}

// format picks the output format, by what the template says in so many words,
// or by the syntax of the calls that it shows. Where neither tells how calls
// are read, the model is better off without its template's help: it gets tools
// in the words of the fallback, as if the template had none.
func (p *prober) format() string {
	caps := &p.t.caps
	if p.t.model.Format != "" {
		return p.t.model.Format
	}
	if caps.Tools || caps.ToolCalls {
		for _, f := range fingerprints {
			if p.has(f.all...) && (f.without == "" || !p.has(f.without)) {
				return f.format
			}
		}
		switch s := &caps.Syntax; {
		case isHermes(s):
			return fallbackFormat
		case isBareJSON(s) && s.ArgumentsField == "parameters":
			return format.Llama3
		case caps.Tools && readable(s):
			return format.Generic
		}
	}
	caps.Tools, caps.ToolCalls = false, false
	return fallbackFormat
}

// has reports whether the source holds all the words, or the model has them as
// control tokens: some templates leave the markup of calls to the client.
func (p *prober) has(words ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		return !strings.Contains(p.source, w) && !slices.Contains(p.t.model.Control, w)
	})
}

// cutLast cuts s around the last sep. Without one, all of it is before.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
