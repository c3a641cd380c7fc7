package upstream

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/plainjson"
)

// Members of a stream: the second stands in the first.
const (
	streamOptions = "stream_options"
	usageStats    = "continuous_usage_stats"
)

// Members that tell what is thought, and whether to think.
const (
	reasoningEffort   = "reasoning_effort"
	reasoningContent  = "reasoning_content" // of a message
	templateArguments = "chat_template_kwargs"
)

// members are those of a request that not every server of the style knows.
// The ones that the server has refused before are left out.
type members struct {
	lesson  *lesson
	values  map[string]any
	sent    []string // names as quirks knows them
	ignored []string // what the client wanted and no member is left for
	used    engine.Used
}

func newMembers(l *lesson) *members { return &members{lesson: l, values: map[string]any{}} }

// offer adds a member that the server may know, and reports whether it may.
func (m *members) offer(name string, value any) bool {
	if !m.allowed(name) {
		return false
	}
	m.values[name] = value
	return true
}

// allowed reports whether the server may know a member, and notes that it is
// used.
func (m *members) allowed(name string) bool {
	if !m.lesson.takes(name) {
		return false
	}
	m.sent = append(m.sent, name)
	return true
}

// sampling adds the parameters, each under all names that servers have for it.
// What is left with none is ignored.
func (m *members) sampling(s engine.Sampling) {
	for p := range engine.SamplingParams() {
		value := p.Get(&s)
		switch {
		case value == nil:
		case p.Everywhere:
			m.values[p.Name] = value
		case !m.offerAll(p.Upstream, value):
			m.ignored = append(m.ignored, p.Name)
			continue
		}
		p.Set(&m.used.Sampling, value)
	}
	if len(s.LogitBias) > 0 {
		m.values["logit_bias"] = s.LogitBias
	}
}

// offerAll adds a value under several names, and reports whether the server
// may know one of them.
func (m *members) offerAll(names []string, value any) (known bool) {
	for _, name := range names {
		known = m.offer(name, value) || known
	}
	return known
}

// wanted is the name in [engine.Start.Ignored] of a member that a client, or a
// Modelfile, asked for; empty: nobody did.
func wanted(member string) string {
	if member == reasoningEffort {
		return reasoningEffort
	}
	for p := range engine.SamplingParams() {
		if slices.Contains(p.Upstream, member) {
			return p.Name
		}
	}
	return ""
}

// maxTokens uses the old name, which all servers know: one that knows only
// that would ignore the new one without a word and write on. OpenAI's newer
// models refuse the old one.
func (m *members) maxTokens(n *int) {
	m.used.MaxTokens = n
	if n != nil && !m.offer("max_tokens", *n) {
		m.values["max_completion_tokens"] = *n
	}
}

// reasoning says whether to think in the two ways that there are: the style's
// own, and what templates of most thinking models look at.
func (m *members) reasoning(r engine.Reasoning) {
	if r.Mode == engine.ReasoningDefault {
		return
	}
	on := r.Mode == engine.ReasoningOn
	effort := cmp.Or(r.Effort, "medium")
	if !on {
		effort = "none"
	}
	told := false
	if m.allowed(reasoningEffort + "=" + effort) { // which a server may not know, while it knows the member
		m.values[reasoningEffort], told = effort, true
		if on {
			m.used.Reasoning.Effort = effort
		}
	}
	told = m.offer(templateArguments, map[string]any{"enable_thinking": on}) || told
	if told {
		m.used.Reasoning.Mode = r.Mode
	}
	if !told && on || !on && r.Effort != "" { // a model that cannot think has nothing to turn off
		m.ignored = append(m.ignored, reasoningEffort)
	}
}

// stream asks for chunks, and for the number of the prompt's tokens as early
// as there is a way: in the progress of llama-server, or in each chunk of
// vLLM.
func (m *members) stream() {
	m.values["stream"] = true
	if m.allowed(streamOptions) {
		options := map[string]bool{"include_usage": true}
		if m.allowed(usageStats) {
			options[usageStats] = true
		}
		m.values[streamOptions] = options
	}
	m.offer("return_progress", true)
}

// body joins the members with a request of the generated types.
func (m *members) body(request any) (*body, error) {
	text, err := plainjson.Marshal(request)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(m.values)) {
		value, err := plainjson.Marshal(m.values[name])
		if err != nil {
			return nil, err
		}
		text = append(text[:len(text)-1], `,"`+name+`":`...)
		text = append(append(text, value...), '}')
	}
	if !json.Valid(text) { // schemas are the client's own text
		return nil, engine.Errorf(engine.CodeInternal, "Internal error.")
	}
	return &body{bytes: text, optional: m.sent, ignored: m.ignored, used: m.used}, nil
}
