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
	model           Model
	info            Info
	special         *tokenizer.Spellings // for raw prompts
	template        renderer
	canReason       bool // the template shows reasoning
	reasoningSwitch bool // a request can turn reasoning on
	caps            template.Capabilities
	format          *format.Format
	random          io.Reader // source of seeds and ids

	constraints *constraintCache
}

// New returns an Engine over a model. now is the clock of its chat template. An
// error, for the log, says why that template cannot be used.
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
		return nil, fmt.Errorf("unknown output format %[2]q of the model %[1]s; there are %[3]s",
			info.Name, template.Format(), strings.Join(format.Names(), ", "))
	}
	if fim := template.FIM(); fim.Known() {
		info.FIM = fim
	}
	canReason := caps.Syntax.ReasoningStart != ""
	log.Debug("output format of a model", "model", info.Name, "format", written.Name)
	return &Engine{
		model:           model,
		info:            info,
		special:         prompt.Spellings(info.Control),
		template:        template,
		canReason:       canReason,
		reasoningSwitch: canReason || caps.ThinkingSwitch || len(caps.Efforts) > 0 || written.Name == format.Harmony,
		caps:            caps,
		format:          written,
		random:          rand.Reader,

		constraints: newConstraintCache(),
	}, nil
}

// renderer is what an Engine needs of a [template.Template].
type renderer interface {
	Render(ctx context.Context, req *engine.Request) (template.Rendering, error)
}
