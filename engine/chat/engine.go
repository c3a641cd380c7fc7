package chat

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template"
	"github.com/diglot/diglot/engine/chat/tokenizer"
)

// Engine is an [engine.Engine] over one raw [Model]. It is safe for
// concurrent use.
type Engine struct {
	model    Model
	info     Info
	special  *tokenizer.Spellings // of control tokens, for raw prompts
	template renderer
	thinks   bool // the template knows of reasoning
	obeys    bool // and of whether, or how much, a client wants of it
	format   *format.Format
	random   io.Reader // of seeds and ids

	constraints *constraintCache
}

// New makes an Engine of a model. now is the clock that templates read. The
// error, for the log, says why the model's template cannot be used.
func New(model Model, log *slog.Logger, now func() time.Time) (*Engine, error) {
	info := model.Info()
	if info.Vectors.Only {
		return &Engine{model: model, info: info}, nil
	}
	template, err := template.New(info.Template, template.Model{Format: info.Format, BOS: info.BOS, EOS: info.EOS, Control: info.Control}, now)
	if err != nil {
		return nil, err
	}
	caps := template.Capabilities()
	written, ok := format.Recognize(template.Format(), &caps.Syntax, info.Control)
	if !ok {
		return nil, fmt.Errorf("the model %s has the output format %q, which is none of %s",
			info.Name, template.Format(), strings.Join(format.Names(), ", "))
	}
	if fim := template.FIM(); fim.Known() {
		info.FIM = fim
	}
	thinks := caps.Syntax.ReasoningStart != ""
	log.Debug("output format of a model", "model", info.Name, "format", written.Name)
	return &Engine{
		model:    model,
		info:     info,
		special:  prompt.Spellings(info.Control),
		template: template,
		thinks:   thinks,
		obeys:    thinks || caps.ThinkingSwitch || len(caps.Efforts) > 0 || written.Name == format.Harmony,
		format:   written,
		random:   rand.Reader,

		constraints: newConstraintCache(),
	}, nil
}

// renderer is what an Engine needs of a [Template].
type renderer interface {
	Render(ctx context.Context, req *engine.Request) (template.Rendering, error)
}

// Models lists the one model.
func (e *Engine) Models(context.Context) ([]engine.Model, error) {
	return []engine.Model{{
		Name:    e.info.Name,
		Owner:   cmp.Or(e.info.Owner, engine.Owner(e.info.Name)),
		Changed: e.info.Changed,
		Context: e.info.Context,
		Blind:   !e.info.Vision,
	}}, nil
}

// Count implements [engine.Engine].
func (e *Engine) Count(ctx context.Context, req *engine.Request) (int, error) {
	p, err := e.prepare(ctx, req)
	if err != nil {
		return 0, err
	}
	defer p.close()
	return len(p.prompt), nil
}

// GenerateImages implements [engine.Engine].
func (e *Engine) GenerateImages(_ context.Context, req *engine.ImageRequest) ([]engine.Image, error) {
	return nil, engine.Errorf(engine.CodeModelNotFound, "The model %s draws no images.", req.Model).
		At(engine.Place{Field: engine.FieldModel})
}

// Generate answers req. See [engine.Engine].
func (e *Engine) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		p, err := e.prepare(ctx, req)
		if err != nil {
			yield(nil, engine.AsError(err))
			return
		}
		defer p.close()
		if !yield(p.start, nil) {
			return
		}
		tallies, err := e.answers(ctx, p, func(event engine.Event) bool { return yield(event, nil) })
		switch err {
		case nil:
			yield(engine.Done{Usage: usage(len(p.prompt), tallies)}, nil)
		case errLeft:
		default:
			yield(nil, engine.AsError(err))
		}
	}
}

// answers generates the choices of a request and says what each used up, those
// included that were not good enough.
// emit takes their events, one at a time, and returns false when nobody wants
// more.
func (e *Engine) answers(ctx context.Context, p *plan, emit func(engine.Event) bool) ([]tally, error) {
	scored, err := e.score(ctx, p)
	if err != nil {
		return nil, err
	}
	var tallies []tally
	switch {
	case p.choices > p.wanted:
		tallies, err = e.best(ctx, p, emit)
	case p.choices > 1:
		tallies, err = e.sideBySide(ctx, p, emit)
	default:
		tallies = make([]tally, 1)
		tallies[0], err = e.answer(ctx, p, 0, emit)
	}
	return append(tallies, scored...), err
}

// sideBySide generates several choices at the same time. Their events go
// through one goroutine, the caller's, so that emit need not expect others.
func (e *Engine) sideBySide(ctx context.Context, p *plan, emit func(engine.Event) bool) ([]tally, error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait() // no work goes on behind the caller's back
	defer cancel()

	type report struct {
		event engine.Event // nil: the choice ended
		tally tally
		err   error
	}
	reports := make(chan report)
	send := func(r report) bool {
		select {
		case reports <- r:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for i := range p.choices {
		running.Go(func() {
			t, err := e.answer(ctx, p, i, func(event engine.Event) bool { return send(report{event: event}) })
			send(report{tally: t, err: err})
		})
	}
	var tallies []tally
	for len(tallies) < p.choices {
		select {
		case r := <-reports:
			switch {
			case r.err != nil:
				return nil, r.err
			case r.event == nil:
				tallies = append(tallies, r.tally)
			case !emit(r.event):
				return nil, errLeft
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return tallies, nil
}
