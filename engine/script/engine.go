package script

import (
	"log/slog"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/imagegen"
)

// Engine makes the engine that the model is for: one that draws, or one that
// writes and embeds. The arguments are as in [chat.New].
func (m *Model) Engine(log *slog.Logger, now func() time.Time) (engine.Engine, error) {
	if m.draws {
		return imagegen.New(painter{m}, sameSeed), nil
	}
	e, err := chat.New(m, log, now)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// sameSeed makes each request for images draw the same ones: a script plays
// the same every time.
func sameSeed() uint64 { return 0 }
