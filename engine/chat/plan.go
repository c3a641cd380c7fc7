package chat

import (
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/picture"
)

// plan is a request that is checked, rendered and tokenized.
type plan struct {
	request    *engine.Request
	format     *format.Format
	start      engine.Start
	prompt     []int32
	images     []*prompt.Image               // in the prompt
	opened     map[imageKey]*picture.Picture // truncation renders a prompt several times
	opening    string                        // see [template.Rendering]
	tools      format.Tools
	constraint *grammar.Grammar // nil: none
	release    func()           // of the constraint; may be nil
	markers    []string
	stops      []string
	choices    int                   // to generate
	wanted     int                   // to return; fewer than choices with best_of
	echoed     []engine.TokenLogprob // of the prompt in front of each answer
	limit      int                   // most tokens of one choice
	sampling   engine.Sampling       // complete
	idLength   int
}

// job returns the Job of one choice. The seed of choice i is that of the request
// plus i: choices differ and are reproducible.
func (p *plan) job(choice int) Job {
	s := p.sampling
	s.Seed = new(*s.Seed + int64(choice))
	j := Job{
		Prompt:    p.prompt,
		Images:    p.images,
		Request:   p.request,
		Choice:    choice,
		Choices:   p.choices,
		MaxTokens: p.limit,
		Sampling:  s,
		Markers:   p.markers,
		Logprobs:  p.request.Logprobs,
	}
	if p.choices > p.wanted && j.Logprobs == nil {
		j.Logprobs = new(int) // to rank by
	}
	if p.constraint != nil {
		j.Constraint = p.constraint.Matcher()
	}
	return j
}

// close releases the constraint, which requests share.
func (p *plan) close() {
	if p.release != nil {
		p.release()
	}
}

// imageKey identifies the bytes of an image without hashing them.
type imageKey struct {
	data      *byte
	size      int
	mediaType string
}
