package script

import (
	"log/slog"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/imagegen"
)

// Engine returns the engine over the model: for images, or for text and
// embeddings. The arguments are as in [chat.New].
func (m *Model) Engine(log *slog.Logger, now func() time.Time) (engine.Engine, error) {
	if m.draws {
		return imagegen.New(imageModel{m}, sameSeed, log), nil
	}
	e, err := chat.New(m, log, now)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// sameSeed makes image requests repeatable, as scripts are.
func sameSeed() uint64 { return 0 }
