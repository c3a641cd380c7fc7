package upstream

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/plainjson"
)

// Fields of a streaming request: the second is in the first.
const (
	streamOptions = "stream_options"
	usageStats    = "continuous_usage_stats"
)

// Fields about reasoning.
const (
	reasoningEffort   = "reasoning_effort"
	reasoningContent  = "reasoning_content" // of a message
	templateArguments = "chat_template_kwargs"
)

// optionalFields are the optional fields of a request: those that not every server
// knows. The ones that the server has refused before are omitted.
type optionalFields struct {
	fallback *fallback
	values   map[string]any
	sent     []string // names as in quirks
	ignored  []string // requested parameters that the server has no field for
	used     engine.Used
}

func newOptionalFields(l *fallback) *optionalFields {
	return &optionalFields{fallback: l, values: map[string]any{}}
}

// offer adds a field unless the server is known to refuse it, and reports whether it did.
func (m *optionalFields) offer(name string, value any) bool {
	if !m.allowed(name) {
		return false
	}
	m.values[name] = value
	return true
}

// allowed reports whether a field may be sent, and records that it is.
func (m *optionalFields) allowed(name string) bool {
	if !m.fallback.supports(name) {
		return false
	}
	m.sent = append(m.sent, name)
	return true
}

// sampling adds the sampling parameters, each under all names that servers have
// for it. One without a name that the server knows is ignored.
func (m *optionalFields) sampling(s engine.Sampling) {
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

// offerAll offers a value under several names, and reports whether any was added.
func (m *optionalFields) offerAll(names []string, value any) (known bool) {
	for _, name := range names {
		known = m.offer(name, value) || known
	}
	return known
}

// requestedName returns the name in [engine.Start.Ignored] of a field that a client or
// a Modelfile can set; empty: it is not one.
func requestedName(field string) string {
	if field == reasoningEffort {
		return reasoningEffort
	}
	for p := range engine.SamplingParams() {
		if slices.Contains(p.Upstream, field) {
			return p.Name
		}
	}
	return ""
}

// maxTokens prefers the old name: a server that knows no other would silently
// ignore the new one and not stop. OpenAI's newer models refuse the old one.
func (m *optionalFields) maxTokens(n *int) {
	m.used.MaxTokens = n
	if n != nil && !m.offer("max_tokens", *n) {
		m.values["max_completion_tokens"] = *n
	}
}

// reasoning sets the style's own field, and the template argument that most
// reasoning models use.
func (m *optionalFields) reasoning(r engine.Reasoning) {
	if r.Mode == engine.ReasoningDefault {
		return
	}
	on := r.Mode == engine.ReasoningOn
	effort := cmp.Or(r.Effort, "medium")
	if !on {
		effort = "none"
	}
	sent := false
	if m.allowed(reasoningEffort + "=" + effort) { // a server may know the field but not the value
		m.values[reasoningEffort], sent = effort, true
		if on {
			m.used.Reasoning.Effort = effort
		}
	}
	sent = m.offer(templateArguments, map[string]any{"enable_thinking": on}) || sent
	if sent {
		m.used.Reasoning.Mode = r.Mode
	}
	if !sent && on || !on && r.Effort != "" { // without reasoning there is nothing to turn off
		m.ignored = append(m.ignored, reasoningEffort)
	}
}

// stream asks for a stream, and for the prompt's token count as early as
// possible: in llama-server's progress, or in each chunk of vLLM.
func (m *optionalFields) stream() {
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

// body encodes a request of the generated types and adds the fields.
func (m *optionalFields) body(request any) (*body, error) {
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
	if !json.Valid(text) { // schemas are client text
		return nil, engine.Errorf(engine.CodeInternal, "Internal error.")
	}
	return &body{bytes: text, optional: m.sent, ignored: m.ignored, used: m.used}, nil
}
