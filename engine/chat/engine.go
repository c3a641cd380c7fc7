package chat

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"strings"
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
	caps     template.Capabilities
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
		caps:     caps,
		format:   written,
		random:   rand.Reader,

		constraints: newConstraintCache(),
	}, nil
}

// renderer is what an Engine needs of a [Template].
type renderer interface {
	Render(ctx context.Context, req *engine.Request) (template.Rendering, error)
}
