package template

import (
	"context"
	"errors"
	"strings"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
	"github.com/diglot/diglot/engine/chat/template/sandbox"
)

// Render renders a request. It does not check for vision. With ToolNone the tools
// are omitted, so that the model is not tempted. The error is an *engine.Error; a
// conversation that the template rejects is an invalid argument.
func (t *Template) Render(ctx context.Context, req *engine.Request) (Rendering, error) {
	mask := control.NewMask(t.special)
	c := conversation{turns: readTurns(req.Messages), reasoning: req.Reasoning}
	if req.ToolChoice.Mode != engine.ToolNone {
		c.tools = req.Tools
	}
	c = t.fit(c)
	var first error
	for _, repair := range repairs {
		c.turns = repair(c.turns)
		rendered, err := t.renderConversation(ctx, c, mask)
		if err == nil && !rendered.shows(c.images()) {
			err = errImagesMissing
		}
		if err == nil {
			return rendered, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil || !errors.As(err, new(*sandbox.Refusal)) {
			break
		}
	}
	return Rendering{}, failure(first, mask)
}

// renderConversation renders c as it is.
func (t *Template) renderConversation(ctx context.Context, c conversation, mask *control.Mask) (Rendering, error) {
	text, err := t.renderPrefix(ctx, c.withContinuation(), mask)
	if err != nil {
		return Rendering{}, err
	}
	opening, err := t.opening(ctx, c.withContinuation(), text, mask)
	if err != nil {
		return Rendering{}, err
	}
	if c.continues() {
		text += mask.Text(c.lastText())
	}
	return Rendering{Spans: mask.Spans(text), Opening: opening}, nil
}

// renderPrefix is the rendering of c, up to the text that the answer continues.
func (t *Template) renderPrefix(ctx context.Context, c conversation, mask *control.Mask) (string, error) {
	text, err := t.text(ctx, c, mask)
	if err != nil || !c.continues() {
		return text, err
	}
	end := strings.LastIndex(text, control.Continuation)
	if end < 0 {
		return "", errNoContinuation
	}
	return text[:end], nil
}

// text is the rendering of c.
func (t *Template) text(ctx context.Context, c conversation, mask *control.Mask) (string, error) {
	if t.golang != nil {
		return t.bounds.Run(ctx, func(m *bounds.Meter) (string, error) {
			return t.golang.prompt(m, c, t.caps.Effort(c.reasoning.Effort), mask)
		})
	}
	vars, err := t.variables(c, mask)
	if err != nil {
		return "", err
	}
	return t.run(ctx, vars)
}

// run executes a Jinja template.
func (t *Template) run(ctx context.Context, vars map[string]jinja.Value) (string, error) {
	return t.bounds.Run(ctx, func(m *bounds.Meter) (string, error) { return t.script.Render(m, t.now, vars) })
}

// opening is the part of the generation prompt after the header of the turn. After
// a tool result some templates write no header: then only a reasoning delimiter
// after the result counts. A client's text may contain either, or be contained in
// it ("hi" is in "think"), so a second rendering, with boundaries, locates the
// generation prompt.
func (t *Template) opening(ctx context.Context, c conversation, prompt string, mask *control.Mask) (string, error) {
	if t.header != "" && strings.HasSuffix(mask.Unmask(tail(prompt)), t.header) {
		return "", nil // nothing after the header
	}
	text, err := t.renderPrefix(ctx, c.withBoundaries(), mask)
	if err != nil {
		return "", err
	}
	_, own, found := cutLast(text, control.Boundary)
	if !found {
		own = tail(text)
	}
	own = mask.Unmask(own)
	if _, behind, ok := cutLast(own, t.header); ok && t.header != "" {
		return behind, nil
	}
	if start := t.caps.Syntax.ReasoningStart; start != "" {
		if i := strings.LastIndex(own, start); i >= 0 {
			return own[i:], nil
		}
	}
	return "", nil
}

// tail is the end of a prompt, which contains the generation prompt.
func tail(prompt string) string { return prompt[max(0, len(prompt)-maxOpening):] }

// maxOpening is more than the length of any template's generation prompt, in bytes.
const maxOpening = 512

var (
	errNoContinuation = errors.New("the chat template does not show the text of the last message")
	errImagesMissing  = errors.New("the chat template does not show each image once")
)

// shows reports whether there are n images, each once.
func (r Rendering) shows(n int) bool {
	found := map[*prompt.Image]bool{}
	spans := 0
	for _, s := range r.Spans {
		if s.Image != nil {
			found[s.Image] = true
			spans++
		}
	}
	return spans == n && len(found) == n
}

// failure is the error that a client gets for a failed rendering.
func failure(err error, mask *control.Mask) *engine.Error {
	place := engine.Place{Field: engine.FieldMessages}
	var r *sandbox.Refusal
	switch {
	case errors.As(err, &r):
		return engine.Errorf(engine.CodeInvalidArgument, "The model's chat template refuses these messages: %s", clip(mask.Unmask(r.Message))).
			At(place).Because(err)
	case errors.Is(err, errNoContinuation):
		return engine.Errorf(engine.CodeInvalidArgument, "This model cannot continue an assistant message that is already begun.").
			At(place).Because(err)
	case errors.Is(err, errImagesMissing):
		return engine.Errorf(engine.CodeInvalidArgument, "This model's chat template does not show images in such a place.").
			At(place).Because(err)
	case bounds.LimitExceeded(err):
		e := engine.Errorf(engine.CodeInternal, "The model's chat template takes too much memory for these messages.").
			At(place).Because(err)
		e.NoRetry = true
		return e
	case errors.Is(err, bounds.ErrBusy), errors.Is(err, bounds.ErrStuck):
		e := engine.Errorf(engine.CodeOverloaded, "The model has no room to prepare the prompt now; try again later.").Because(err)
		e.RetryAfter = 5
		return e
	case errors.Is(err, bounds.ErrTimeout):
		e := engine.Errorf(engine.CodeInternal, "The model's chat template takes too long for these messages.").At(place).Because(err)
		e.NoRetry = true
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return engine.AsError(err)
	}
	if e := (*engine.Error)(nil); errors.As(err, &e) {
		return e
	}
	return engine.Errorf(engine.CodeInternal, "The model's chat template failed.").Because(err)
}

// maxRefusal limits the template's own error message, in bytes.
const maxRefusal = 300

// clip shortens a template's error message to one line.
func clip(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > maxRefusal {
		message = strings.ToValidUTF8(message[:maxRefusal], "") + "…"
	}
	return message
}
