package modelfile

import (
	"cmp"
	"slices"

	"github.com/diglot/diglot/engine"
)

// Apply puts into a request what it leaves open. What the client sent counts,
// a zero too. The system text and the messages go in front of a conversation:
//
//	the client's system and developer turns at the start; without any there, the definition's
//	the definition's messages
//	the client's other turns
//
// A raw prompt gets no text. The definition is not changed, and no slice that
// the request had: it may be shared. What the request has then is its own.
func (d *Definition) Apply(req *engine.Request) {
	req.Sampling.Fill(d.Parameters.Sampling)
	req.MaxTokens = cmp.Or(req.MaxTokens, d.Parameters.MaxTokens)
	req.Stop = d.Parameters.stops(req.Stop)
	if req.Prompt == nil {
		req.Messages = d.converse(req.Messages)
	}
}

// stops adds the definition's to those of the client, which come first and are
// never left out.
func (p Parameters) stops(client []string) []string {
	all := slices.Clip(client)
	for _, s := range p.Stop {
		if len(all) < maxStops && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func (d *Definition) converse(client []engine.Message) []engine.Message {
	if d.System == "" && len(d.Messages) == 0 {
		return client
	}
	start := 0
	for start < len(client) && client[start].Role.Instructs() {
		start++
	}
	told := start > 0 // what comes later adds to the system text, as it does in Ollama
	all := slices.Clone(client[:start])
	if !told && d.System != "" {
		all = append(all, engine.Message{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: d.System}}})
	}
	for _, m := range d.Messages {
		// A system turn of the definition is another way to write SYSTEM.
		if !told || !m.Role.Instructs() {
			m.Parts = slices.Clone(m.Parts)
			all = append(all, m)
		}
	}
	return append(all, client[start:]...)
}
