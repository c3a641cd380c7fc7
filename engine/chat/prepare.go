package chat

import (
	"context"
	"slices"

	"github.com/diglot/diglot/engine"
)

// prepare checks, renders and tokenizes a request. The plan must be closed.
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
	if req.Prompt == nil && !e.honors(req.Reasoning) {
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
	err = e.tokenize(ctx, p, rendering)
	if req.Truncate && req.Prompt == nil && e.crowded(p, err) {
		err = e.truncate(ctx, p, err)
	}
	if err != nil {
		return nil, err
	}
	if p.limit, err = e.limit(req, len(p.prompt)); err != nil {
		return nil, err
	}
	p.start.Used = engine.Used{Sampling: p.sampling, MaxTokens: &p.limit, Reasoning: e.applied(req), Truncate: req.Truncate}
	p.start.Used.Sampling.LogitBias = nil
	return p, nil
}

// applied is the reasoning mode and effort that take effect, for the reply.
func (e *Engine) applied(req *engine.Request) engine.Reasoning {
	asked := req.Reasoning
	switch {
	case req.Prompt != nil:
	case asked.Mode == engine.ReasoningOff && (e.caps.ThinkingSwitch || !e.canReason):
		return engine.Reasoning{Mode: engine.ReasoningOff}
	case asked.Mode == engine.ReasoningOn && e.reasoningSwitch:
		return engine.Reasoning{Mode: engine.ReasoningOn, Effort: e.caps.Effort(asked.Effort)}
	}
	return engine.Reasoning{} // the template's default
}

// honors reports whether a request's reasoning setting has an effect. An effort
// with reasoning off has none, nor has reasoning on in a model that cannot reason.
func (e *Engine) honors(r engine.Reasoning) bool {
	switch r.Mode {
	case engine.ReasoningOff:
		return r.Effort == ""
	case engine.ReasoningOn:
		return e.reasoningSwitch
	}
	return true
}

// limit is the most tokens of one choice: what the client asks for, cut to what
// is left of the context. That is no error, since agents ask for far more than
// they need.
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

// check checks a request against the capabilities of the model.
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

// checkImages refuses images if the model is text-only. Package picture limits
// their size.
func (e *Engine) checkImages(req *engine.Request) error {
	if e.info.Vision {
		return nil
	}
	return engine.NoImages(e.info.Name, req.Messages)
}
