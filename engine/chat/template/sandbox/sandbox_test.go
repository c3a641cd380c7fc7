package sandbox

import (
	"context"
	"time"

	"github.com/ardanlabs/jinja"

	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// tested is a template with its own bounds.
type tested struct {
	*Template
	bounds *bounds.Bounds
}

func compile(source string, spellings ...string) (*tested, error) {
	tpl, err := Compile(source, control.NewTokens(spellings))
	return &tested{tpl, bounds.New()}, err
}

func (t *tested) run(ctx context.Context, vars map[string]jinja.Value) (string, error) {
	return t.bounds.Run(ctx, func(m *bounds.Meter) (string, error) { return t.Render(m, testTime, vars) })
}

// testTime is the clock of all renderings here.
func testTime() time.Time { return time.Date(2026, 11, 27, 15, 4, 5, 0, time.UTC) }
