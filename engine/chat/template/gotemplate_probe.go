package template

import (
	"context"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// Go templates often treat the last messages differently and silently omit what
// they have no place for. That is found here, and [Template.fit] moves it.

// goCalls finds what a Go template omits in turns with calls.
func (p *prober) goCalls() {
	caps, g := &p.t.caps, p.t.golang
	both, ok := p.render(finished(user(probeUser), calling(probeAnswer, probeCall(probeID))).withTools())
	g.textOrCalls = ok && !(strings.Contains(both, probeAnswer) && strings.Contains(both, probeValue))

	answered := p.callAndResult(probeID)
	text, ok := p.render(answered)
	caps.ToolsLast = caps.Tools && ok && !strings.Contains(text, probeTool2) // described, not called

	answered.turns = append([]turn{system(probeSystem)}, answered.turns...)
	if caps.System && !p.shows(answered, probeSystem, probeResult) {
		caps.System, caps.SystemAnywhere = false, false // fit moves it to the user's turn
	}
}

// goRest probes what depends on the format.
func (p *prober) goRest() {
	if caps := &p.t.caps; caps.ToolCalls && caps.ParallelCalls {
		caps.ParallelCalls = p.readsBoth()
	}
	_, p.err = p.t.bounds.Run(p.ctx, func(m *bounds.Meter) (string, error) {
		var err error
		p.t.fim, err = p.t.golang.probeFIM(m, control.NewMask(p.t.special))
		return "", err
	})
}

// readsBoth reports whether two rendered calls of one turn parse as two, since
// models imitate the calls in the conversation. Some templates write arrays
// without commas, or both calls in one pair of delimiters.
func (p *prober) readsBoth() bool {
	written, ok := format.Recognize(p.t.format, &p.t.caps.Syntax, p.t.model.Control)
	if !ok {
		return true // chat.New reports it
	}
	base, _ := p.render(finished(user(probeUser), assistant("")).withTools())
	text, _ := p.render(finished(user(probeUser), calling("", probeCall(probeID), probeCall2(probeID))).withTools())
	text = text[wholeMarkers(text, commonPrefix(base, text)):]
	tools, _, _ := format.NewTools(context.Background(), probeTools()) // valid schemas
	out := format.NewParser(written, format.Options{Tools: tools, NewID: func() string { return probeID }})
	out.Read(engine.TokenLogprob{Token: []byte(text)})
	out.Finish(engine.FinishEndOfTurn)
	var names []string
	for _, e := range out.Events() {
		if start, ok := e.(engine.BlockStart); ok && start.Kind == engine.BlockToolCall {
			names = append(names, start.Name)
		}
	}
	return slices.Equal(names, []string{probeTool, probeTool2})
}

// probeFIM finds the fill-in-the-middle tokens of a template; zero: it has none.
func (g *goTemplate) probeFIM(m *bounds.Meter, mask *control.Mask) (prompt.FIM, error) {
	if !g.hasFIM {
		return prompt.FIM{}, nil
	}
	w := &boundedWriter{r: goRendering{Meter: m}}
	err := g.execute(w, map[string]any{
		"Prompt": probeUser, "Suffix": probeUser2, "Response": "", "Think": false, "ThinkLevel": "", "IsThinkSet": false,
	})
	if err != nil {
		return prompt.FIM{}, err
	}
	text := mask.Unmask(w.text.String())
	cut := func(first, second string) (before, between, after string, ok bool) {
		before, rest, ok1 := strings.Cut(text, first)
		between, after, ok2 := strings.Cut(rest, second)
		return before, between, after, ok1 && ok2
	}
	if prefix, suffix, middle, ok := cut(probeUser, probeUser2); ok {
		return prompt.FIM{Prefix: prefix, Suffix: suffix, Middle: middle}, nil
	}
	if suffix, prefix, middle, ok := cut(probeUser2, probeUser); ok {
		return prompt.FIM{Prefix: prefix, Suffix: suffix, Middle: middle, SuffixFirst: true}, nil
	}
	return prompt.FIM{}, nil
}
