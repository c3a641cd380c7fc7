package chat

import (
	"context"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template"
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

// prepare does all that can fail before anything is generated. The plan must
// be closed.
func (e *Engine) prepare(ctx context.Context, req *engine.Request) (_ *plan, err error) {
	if err := e.check(req); err != nil {
		return nil, err
	}
	sampling, err := e.sampling(req.Sampling)
	if err != nil {
		return nil, err
	}
	p := &plan{
		request:  req,
		format:   e.formatOf(req),
		stops:    slices.DeleteFunc(slices.Clone(req.Stop), func(s string) bool { return s == "" }),
		choices:  max(1, req.Choices, req.BestOf),
		wanted:   max(1, req.Choices),
		sampling: sampling,
		idLength: idLength,
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	p.markers = p.format.Markers
	if p.format.IDLength > 0 {
		p.idLength = p.format.IDLength
	}
	if req.Prompt == nil && !e.follows(req.Reasoning) {
		p.start.Ignored = append(p.start.Ignored, "reasoning_effort")
	}
	rendering, err := e.render(ctx, req)
	if err != nil {
		return nil, err
	}
	p.opening = rendering.Opening
	if err := e.constrain(ctx, p); err != nil {
		return nil, err
	}
	err = e.read(ctx, p, rendering)
	if req.Truncate && req.Prompt == nil && e.crowded(p, err) {
		err = e.truncate(ctx, p, err)
	}
	if err != nil {
		return nil, err
	}
	if p.limit, err = e.limit(req, len(p.prompt)); err != nil {
		return nil, err
	}
	return p, nil
}

// follows reports whether what a client says of reasoning has an effect: a level
// without thinking has none, and neither has thinking where a model does not
// think.
func (e *Engine) follows(r engine.Reasoning) bool {
	switch r.Mode {
	case engine.ReasoningOff:
		return r.Effort == ""
	case engine.ReasoningOn:
		return e.obeys
	}
	return true
}

// read makes tokens of the rendered prompt.
func (e *Engine) read(ctx context.Context, p *plan, rendering template.Rendering) (err error) {
	prompt := prompt.Prompt{Spans: rendering.Spans, Request: p.request}
	p.images = prompt.Images()
	if err := p.openImages(); err != nil {
		return err
	}
	if p.prompt, err = e.model.Tokenize(ctx, prompt); err != nil {
		return placeLength(err, p.request)
	}
	p.start.PromptTokens, p.start.Prompt = len(p.prompt), prompt.String()
	return nil
}

// render makes the prompt of a request.
func (e *Engine) render(ctx context.Context, req *engine.Request) (template.Rendering, error) {
	if req.Prompt != nil {
		return template.Rendering{Spans: rawSpans(req.Prompt, e.info, e.special)}, nil
	}
	return e.template.Render(ctx, req)
}

// limit is how many tokens one choice may have: what the client wants, as far
// as the context has room. A cut is not an error, since agents ask for far
// more than they need.
func (e *Engine) limit(req *engine.Request, prompt int) (int, error) {
	room := e.info.Context - prompt
	if room < 1 {
		err := engine.Errorf(engine.CodeContextLength,
			"The prompt is too long: it has %d tokens, and the model %s takes at most %d for prompt and answer together.",
			prompt, e.info.Name, e.info.Context).At(promptPlace(req))
		err.Tokens, err.Limit = prompt, e.info.Context
		return 0, err
	}
	if req.MaxTokens == nil {
		return room, nil
	}
	return max(0, min(*req.MaxTokens, room)), nil
}

// check compares the request with what the model can do.
func (e *Engine) check(req *engine.Request) error {
	if !engine.SameModel(req.Model, e.info.Name) {
		return engine.ModelNotFound(req.Model)
	}
	if err := e.checkGenerates(); err != nil {
		return err
	}
	if err := e.checkRaw(req); err != nil {
		return err
	}
	if err := e.checkImages(req); err != nil {
		return err
	}
	return e.checkTools(req)
}

func (e *Engine) checkTools(req *engine.Request) error {
	if req.ToolChoice.Mode != engine.ToolRequired || e.format.HasCalls() {
		return nil
	}
	return engine.Errorf(engine.CodeUnsupported, "The model %s cannot call tools.", e.info.Name).
		At(engine.Place{Field: engine.FieldToolChoice})
}
