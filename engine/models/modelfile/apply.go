package modelfile

import (
	"cmp"
	"slices"

	"github.com/diglot/diglot/engine"
)

// Apply fills in the defaults that a request leaves open; a zero of the client
// counts. The system prompt and messages are inserted into a conversation:
//
//	the client's leading system and developer turns, or else the Modelfile's SYSTEM
//	the Modelfile's messages
//	the client's other turns
//
// A raw prompt gets no text. Neither d nor any slice of the request is changed,
// because they may be shared.
func (d *Definition) Apply(req *engine.Request) {
	req.Sampling.Fill(d.Parameters.Sampling)
	req.MaxTokens = cmp.Or(req.MaxTokens, d.Parameters.MaxTokens)
	req.Stop = d.Parameters.stops(req.Stop)
	if req.Prompt == nil {
		req.Messages = d.converse(req.Messages)
	}
}

// ApplyImage fills in the defaults that a request for images leaves open.
func (d *Definition) ApplyImage(req *engine.ImageRequest) {
	p := d.Parameters
	defaults := p.Drawing
	if p.Sampling.Seed != nil {
		defaults.Seed, defaults.Seeded = uint64(*p.Sampling.Seed), true
	}
	req.Drawing.Fill(defaults)
	if req.Width == 0 && req.Height == 0 {
		req.Width, req.Height = cmp.Or(p.Width, p.Height), cmp.Or(p.Height, p.Width)
	}
}

// stops appends the Modelfile's stop strings, up to maxStops, to the client's.
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
	told := start > 0 // later system turns only add to the Modelfile's, as in Ollama
	all := slices.Clone(client[:start])
	if !told && d.System != "" {
		all = append(all, engine.Message{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: d.System}}})
	}
	for _, m := range d.Messages {
		// A system MESSAGE is another way to write SYSTEM.
		if !told || !m.Role.Instructs() {
			m.Parts = slices.Clone(m.Parts)
			all = append(all, m)
		}
	}
	return append(all, client[start:]...)
}
