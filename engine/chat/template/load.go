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

// maxTemplate bounds the source of a template, in bytes: it comes out of a model
// file, and a model file is not trusted.
const maxTemplate = 1 << 20

// New compiles a chat template, in Jinja or as a Go template, and finds out what
// it can do by rendering made-up conversations, which takes a few milliseconds.
// An empty source is the built-in template of model.Format, or of the plain
// format. now tells templates the date. The error is for the log.
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

// compile makes a Template about which nothing is known yet.
func compile(source string, model Model, now func() time.Time) (*Template, error) {
	if len(source) > maxTemplate {
		return nil, fmt.Errorf("the chat template has %d bytes, more than %d", len(source), maxTemplate)
	}
	if isGoTemplate(source) {
		return compileGo(source, model, now)
	}
	special := control.NewTokens(model.Control)
	bos, eos := special.Own(model.BOS, control.Printed), special.Own(model.EOS, control.Printed)
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

var errBlindTemplate = errors.New("the chat template does not show what the user says")

// probe fills in the capabilities, the format and the header.
func (t *Template) probe(source string) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), bounds.MaxTime, bounds.ErrSlow)
	defer cancel()
	p := &prober{t: t, ctx: ctx, source: source}
	if !p.content() {
		return cmp.Or(p.broken, errBlindTemplate)
	}
	p.roles()
	p.tools()
	p.thinking()
	t.caps.Syntax = p.syntax()
	t.header = p.header()
	t.format = p.format()
	t.example = t.caps.example()
	if t.golang != nil && p.broken == nil {
		p.goRest()
	}
	return p.broken
}
