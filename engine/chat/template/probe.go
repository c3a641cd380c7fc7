package template

import (
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
)

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

func (p *prober) roles() {
	caps := &p.t.caps
	caps.System = p.shows(conversation{turns: []turn{system(probeSystem), user(probeUser)}}, probeSystem, probeUser)
	caps.SystemAnywhere = caps.System && !p.t.repeats() && p.shows(conversation{turns: []turn{
		system(probeSystem), system(probeSystem2), user(probeUser), assistant(probeAnswer), system(probeSystem2), user(probeUser2),
	}}, probeSystem, probeSystem2, probeUser, probeAnswer, probeSystem2, probeUser2)

	// ChatML templates print any role, so the source must name it. An alias of
	// user or system does not count.
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

// tools probes tools and calls. Some templates show only calls, and leave the
// tools to the system prompt.
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

// showsCall reports whether a call and its result are shown, with arguments that
// are not quoted twice.
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

// calls probes the details of a template that shows calls.
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

// header finds the header of assistant turns: what follows the user's turn both in
// a generation prompt and before an earlier answer. A reasoning delimiter after it
// is part of the answer.
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
	} else { // always has a generation prompt, so the end of the user's turn is not known
		both = strings.TrimPrefix(both, p.t.caps.Syntax.ReasoningEnd)
	}
	for _, mark := range []string{p.t.caps.Syntax.ReasoningStart, p.t.caps.Syntax.ReasoningEnd} {
		if mark != "" {
			both, _, _ = strings.Cut(both, mark)
		}
	}
	return both
}

// fingerprints are strings that identify an output format. The first row wins
// whose strings are all there and whose excluded one is not.
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

// format detects the output format, by fingerprints or by the syntax of the calls
// that the template shows. If neither tells how to parse calls, the template's
// tool support is not used: the fallback describes the tools.
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
