package runner

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/enginetest"
	"github.com/diglot/diglot/engine/script"
)

// scripted is an engine that passes the suite by itself.
func scripted() (engine.Engine, error) {
	models, err := script.Load(strings.NewReader(`models: {m: {embedding: 8, replies: [{pieces: [Hel, lo, " ", you, "!"]}]}}`))
	if err != nil {
		return nil, err
	}
	return chat.New(models[0], slog.New(slog.DiscardHandler), time.Now)
}

func TestSuiteThroughASocket(t *testing.T) {
	open := func(t *testing.T) engine.Engine {
		e, err := scripted()
		if err != nil {
			t.Fatal(err)
		}
		return serve(t, e)
	}
	enginetest.Run(t, open)
	enginetest.RunEmbeddings(t, open)
}

func TestSuiteThroughAProcess(t *testing.T) {
	open := func(t *testing.T) engine.Engine {
		e, _ := supervise(t, 0, puppetModel("m", "scripted"))
		return e
	}
	enginetest.Run(t, open)
	enginetest.RunEmbeddings(t, open)
}
