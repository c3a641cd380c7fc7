package handlers_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/script"
)

// playing is the engine over the models of a script.
func playing(t *testing.T, text string) engine.Engine {
	t.Helper()
	models, err := script.Load(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return over(t, models)
}

// over makes one engine of the models of a script.
func over(t *testing.T, models []*script.Model) engine.Engine {
	t.Helper()
	var all engine.Mux
	for _, m := range models {
		e, err := m.Engine(slog.New(slog.DiscardHandler), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}
