package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/confine"
	"github.com/diglot/diglot/engine/local/runner"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestMain makes the test binary the process of a scripted model, where a
// test asks for it, or the program itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "scripted" {
		serveAsChild(os.Args[2:3], func() (engine.Engine, error) {
			models, _, err := openScript(os.Args[2], slog.New(slog.DiscardHandler))
			return models, err
		})
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "broken" {
		serveAsChild(nil, func() (engine.Engine, error) { return broken{}, nil })
		return
	}
	if len(os.Args) > 1 && slices.Contains([]string{"runner", "serve", "template", "replay", "record"}, os.Args[1]) {
		reportOnSignal()
		main()
	}
	os.Exit(m.Run())
}

// serveAsChild makes this process that of a model.
func serveAsChild(files []string, open func() (engine.Engine, error)) {
	err := runner.RunChild(context.Background(), runner.Child{
		Files: files,
		State: os.Getenv(confine.Marker),
		Open:  func(context.Context, confine.Held) (engine.Engine, error) { return open() },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// openChild runs the model m in a process.
func openChild(t *testing.T, command ...string) *runner.Engine {
	t.Helper()
	e, err := runner.New(t.Context(), runner.Config{
		Log:    slog.New(slog.DiscardHandler),
		Models: []runner.Model{{Name: "m", Command: command}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// serveEngine serves an engine over HTTP until the test ends, and holds its
// replies to the document.
func serveEngine(t *testing.T, e engine.Engine) string {
	t.Helper()
	handler, err := handlers.New(handlers.Config{Engine: e, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handlerstest.Contract(t, handler))
	t.Cleanup(s.Close)
	return s.URL
}
