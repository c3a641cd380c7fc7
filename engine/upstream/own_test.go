package upstream

import (
	"context"
	"iter"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/openai"
)

// failing is an engine that fails with one error.
type failing struct {
	engine.Engine
	err error
}

func (f *failing) Models(context.Context) ([]engine.Model, error) {
	return []engine.Model{{Name: "m"}}, nil
}

func (f *failing) Generate(context.Context, *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) { yield(nil, f.err) }
}

// TestOwnIsTheWayBack holds what comes back from a server of this program
// against the errors of its engine.
func TestOwnIsTheWayBack(t *testing.T) {
	var f failing
	log := slog.New(slog.DiscardHandler)
	api, err := handlers.New(handlers.Config{Engine: &f, Log: log, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(api)
	defer s.Close()
	e, err := New(Config{BaseURL: s.URL, Model: "m", Log: log, Errors: Own{Ended: ended, Code: openai.ErrorCode}, Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []engine.Code{
		engine.CodeInvalidArgument, engine.CodeUnsupported, engine.CodeContextLength, engine.CodeUnauthenticated,
		engine.CodeForbidden, engine.CodeModelNotFound, engine.CodeNotFound, engine.CodeMethodNotAllowed, engine.CodeUpgrade, engine.CodeTooLarge,
		engine.CodeMediaType, engine.CodeOverloaded, engine.CodeCanceled, engine.CodeDeadline, engine.CodeInternal, engine.CodeEngineCrashed,
	} {
		f.err = engine.Errorf(code, "boom")
		_, err = gather(t.Context(), e, ask("u"))
		if got := coded(t, err); got.Code != code || got.Message != "boom" {
			t.Errorf("%s: error %v", code, err)
		}
	}
}
