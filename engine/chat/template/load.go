package template

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
	"github.com/diglot/diglot/engine/chat/template/sandbox"
)

// maxTemplate limits the source of a template, in bytes.
const maxTemplate = 1 << 20

// New compiles and probes a chat template, Jinja or Go, which takes a few
// milliseconds. An empty source is the built-in template of model.Format, or of
// the plain format. now is the clock of templates. The error is for the log.
func New(source string, model Model, now func() time.Time) (*Template, error) {
	if source == "" {
		source = builtinTemplate(model.Format)
	}
	t, err := compile(source, model, now)
	if err != nil {
		return nil, err
	}
	if err := t.probe(source); err != nil {
		return nil, fmt.Errorf("probe the chat template: %w", err)
	}
	return t, nil
}

// compile compiles a template, not yet probed.
func compile(source string, model Model, now func() time.Time) (*Template, error) {
	if len(source) > maxTemplate {
		return nil, fmt.Errorf("the chat template has %d bytes, more than %d", len(source), maxTemplate)
	}
	if isGoTemplate(source) {
		return compileGo(source, model, now)
	}
	special := control.NewTokens(model.Control)
	bos, eos := special.EncodeSpecial(model.BOS, control.Printed), special.EncodeSpecial(model.EOS, control.Printed)
	script, err := sandbox.Compile(source, special)
	if err != nil {
		return nil, err
	}
	return &Template{
		model:   model,
		script:  script,
		special: special,
		bos:     bos,
		eos:     eos,
		now:     now,
		bounds:  bounds.New(),
	}, nil
}

var errUserMissing = errors.New("the chat template does not show what the user says")

// probe finds the capabilities, the format and the header.
func (t *Template) probe(source string) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), bounds.MaxTime, bounds.ErrTimeout)
	defer cancel()
	p := &prober{t: t, ctx: ctx, source: source}
	if !p.content() {
		return cmp.Or(p.err, errUserMissing)
	}
	p.roles()
	p.tools()
	p.thinking()
	t.caps.Syntax = p.syntax()
	t.header = p.header()
	t.format = p.format()
	t.example = t.caps.example()
	if t.golang != nil && p.err == nil {
		p.goRest()
	}
	return p.err
}
