package upstream_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/enginetest"
	"github.com/diglot/diglot/engine/script"
	"github.com/diglot/diglot/engine/upstream"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// playing is the engine over the models of a script.
func playing(t *testing.T, text string) engine.Engine {
	t.Helper()
	models, err := script.Load(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
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

// serving is a whole diglot over an engine.
func serving(t *testing.T, e engine.Engine) http.Handler {
	t.Helper()
	h, err := handlers.New(handlers.Config{Engine: e, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return handlerstest.Contract(t, h)
}

// over is an engine that asks a server for one model.
func over(t *testing.T, h http.Handler, model string) engine.Engine {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	e, err := upstream.New(upstream.Config{BaseURL: s.URL + "/v1", Model: model, Name: model, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// counting adds to a diglot the endpoint that vLLM has for counting the
// tokens of a raw text.
func counting(h http.Handler, e engine.Engine) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/v1/", h)
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Model, Prompt string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		n, err := e.Count(r.Context(), &engine.Request{Model: in.Model, Prompt: &engine.Prompt{Text: in.Prompt}, Choices: 1})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"count": n, "max_model_len": 4096})
	})
	return mux
}

const talker = `
models:
  scripted:
    embedding: 8
    replies:
      - pieces: ["One", " two", " three"]
`

func TestSuite(t *testing.T) {
	enginetest.Run(t, func(t *testing.T) engine.Engine {
		below := playing(t, talker)
		return over(t, counting(serving(t, below), below), "scripted")
	})
}

func TestEmbeddingSuite(t *testing.T) {
	enginetest.RunEmbeddings(t, func(t *testing.T) engine.Engine {
		return over(t, serving(t, playing(t, talker)), "scripted")
	})
}

// muxOf is an engine over the models of another server.
func muxOf(t *testing.T, h http.Handler, models ...string) engine.Mux {
	t.Helper()
	var all engine.Mux
	for _, model := range models {
		all = append(all, over(t, h, model))
	}
	return all
}
