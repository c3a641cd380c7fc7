package chat

import (
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/picture"
)

// plan is a request that was checked, rendered and counted.
type plan struct {
	request    *engine.Request
	format     *format.Format
	start      engine.Start
	prompt     []int32
	images     []*prompt.Image           // in the prompt
	opened     map[file]*picture.Picture // a prompt may be made several times
	opening    string                    // what the prompt already holds of the answer
	tools      format.Tools
	constraint *grammar.Grammar // nil: none
	release    func()           // gives the constraint back; nil: there is none to give
	markers    []string
	stops      []string
	choices    int                   // to generate
	wanted     int                   // of these, the best
	echoed     []engine.TokenLogprob // tokens of the prompt in front of each answer
	limit      int                   // most tokens of one choice
	sampling   engine.Sampling       // every parameter is set
	idLength   int
}

// job is the work of one choice. Seeds follow that of the request, so that
// choices differ, and are the same in the next request with this seed.
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
		j.Logprobs = new(int) // by which the best are found
	}
	if p.constraint != nil {
		j.Constraint = p.constraint.Matcher()
	}
	return j
}

// close ends the use of what the plan shares with others.
func (p *plan) close() {
	if p.release != nil {
		p.release()
	}
}

// file is what a client sent as an image, by where it lies.
type file struct {
	data      *byte
	size      int
	mediaType string
}
