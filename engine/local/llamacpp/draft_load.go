//go:build llamacpp && cgo

package llamacpp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/memory"
)

// addDraftModel loads the model that guesses tokens, and adds it to c, which generates
// text with w.
func addDraftModel(ctx context.Context, c *decode.Config, w *weights, options Options, plan memory.Plan, sink *logSink) error {
	if options.Draft == "" {
		return nil
	}
	if c.Text == nil || w.recurrent() {
		return unsupportedFile(options.Path, errors.New("it cannot check what a draft model guesses"))
	}
	second, err := loadDraft(ctx, options, sink)
	if err != nil {
		return err
	}
	first := c.Text.Backend.(*session) // as generate made it
	second.turn = first.turn
	s := newSession(second, sessionConfig{
		cells:     plan.Cells,
		sequences: options.Parallel,
		rows:      decode.DraftRows,
		governor:  first.governor,
		pool:      first.pool,
		sink:      sink,
	})
	if s == nil {
		second.free()
		return fmt.Errorf("%s: llama.cpp cannot create a context of %d tokens: %s", options.Draft, plan.Cells, sink.reason())
	}
	c.Text.DraftModel = &decode.DraftModel{Backend: s, Cells: plan.Cells, Context: min(plan.Context, second.trainedContext()), Tokens: s.size}
	free := c.Free
	c.Free = func() {
		s.Free()
		second.free()
		free()
	}
	options.Log.Info("draft model loaded", "file", filepath.Base(options.Draft))
	return nil
}

// loadDraft loads the weights of the model that guesses.
func loadDraft(ctx context.Context, options Options, sink *logSink) (*weights, error) {
	file, err := gguf.Open(options.Draft)
	if err != nil {
		return nil, err
	}
	options.Path = options.Draft
	w, err := load(ctx, options, file, sink)
	if err != nil {
		return nil, err
	}
	releaseMappedPages(file.Paths)
	if w.recurrent() || !w.generates() {
		w.free()
		return nil, unsupportedFile(options.Draft, errors.New("a draft model must be a decoder whose state can be cut back"))
	}
	return w, nil
}
