package script

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

func TestClosedModelDrawsNothing(t *testing.T) {
	models, err := Load(strings.NewReader("models: {m: {image: true}}"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := models[0].Engine(slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := models[0].Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.CollectImages(e.GenerateImages(t.Context(), &engine.ImageRequest{Model: "m", Prompt: "p"})); engine.AsError(err) == nil || engine.AsError(err).Code != engine.CodeInternal {
		t.Errorf("error %v", err)
	}
}

// TestWritersDrawNothing holds that each model of a script is for one thing.
func TestWritersDrawNothing(t *testing.T) {
	e, err := load(t, "[{pieces: [a]}]").Engine(slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := e.(*chat.Engine); !ok {
		t.Errorf("a model that writes has a %T", e)
	}
}
