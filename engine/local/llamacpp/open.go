//go:build llamacpp && cgo

package llamacpp

// #include "attention.h"
// #include "pages.h"
// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/memory"
)

// Open loads a model. Its errors are for the log: they say what is wrong
// with the file, or what llama.cpp says is. Ending ctx stops the loading.
func Open(ctx context.Context, options Options) (*Model, error) {
	options = options.withDefaults()
	file, err := inspect(options.Path)
	if err != nil {
		return nil, refused(options.Path, err)
	}
	if err := options.check(file); err != nil {
		return nil, refused(options.Path, err)
	}
	return open(ctx, options, file)
}

// open loads files that are checked.
func open(ctx context.Context, options Options, file *gguf.File) (*Model, error) {
	plan, err := options.fit()
	if err != nil {
		return nil, err
	}
	options.Planned(plan)
	sink := &logSink{log: options.Log}
	sink.listen()
	w, err := load(ctx, options, sink)
	if err != nil {
		return nil, err
	}
	releaseMapped(file.Paths)
	if err := w.adapt(options.Adapters, sink); err != nil {
		w.free()
		return nil, err
	}
	model, err := build(w, file, options, plan, sink)
	if err != nil {
		w.free()
		return nil, fmt.Errorf("%s: %w", options.Path, err)
	}
	return model, nil
}

func load(ctx context.Context, options Options, sink *logSink) (*weights, error) {
	path := options.Path
	C.shim_huge_pages()
	C.shim_attention()
	cancel := newFlag()
	stop := context.AfterFunc(ctx, cancel.raise)
	w := loadWeights(path, options.placement(), cancel)
	if stop() {
		cancel.free() // else the function may still run: the flag, 4 bytes, is left
	}
	if err := ctx.Err(); err != nil {
		if w != nil {
			w.free()
		}
		return nil, fmt.Errorf("loading %s: %w", path, err)
	}
	if w == nil {
		return nil, fmt.Errorf("%s: llama.cpp cannot load the file: %s", path, sink.reason())
	}
	return w, nil
}

// check looks at the heads of the files beside the model's.
func (o Options) check(model *gguf.File) error {
	if err := checkProjector(model, o.Projector); err != nil {
		return err
	}
	return checkAdapters(model, o.Adapters)
}

// build makes the model of what is loaded, as large as planned.
func build(w *weights, file *gguf.File, options Options, plan memory.Plan, sink *logSink) (*Model, error) {
	embedding, err := embeddingOf(file)
	switch {
	case err != nil:
		return nil, err
	case embedding.only:
		return buildEmbedder(w, file, embedding, options, plan.Context, sink)
	case !w.generates():
		return nil, errors.New("the model does not generate text")
	}
	stat, err := os.Stat(options.Path)
	if err != nil {
		return nil, err
	}
	if plan.Context > w.trained() {
		options.Log.Warn("the context is longer than the model was trained with", "context", plan.Context, "trained", w.trained())
	}
	m, err := assemble(w, file, options, sink, plan)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, sink.reason())
	}
	m.info = describe(options.Path, stat.ModTime(), file, m.vocab, plan.Context)
	m.info.Vision = m.eye != nil
	if makesVectors(file) {
		m.embedBeside(w, embedding, options, sink)
	}
	return m, nil
}

// assemble starts the loop over w, with the cells of the plan, of which one
// request may use its context.
func assemble(w *weights, file *gguf.File, options Options, sink *logSink, plan memory.Plan) (*Model, error) {
	vocab, err := w.vocabulary()
	if err != nil {
		return nil, err
	}
	encoder, err := w.encoder(options.Path, file, vocab)
	if err != nil {
		return nil, err
	}
	session := newSession(w, sessionConfig{
		cells:     plan.Cells,
		sequences: sequenceIDs(options.Parallel, !w.recurrent()),
		rows:      batchRows,
		governor:  newGovernor(options),
		sink:      sink,
	})
	if session == nil {
		return nil, fmt.Errorf("llama.cpp cannot make room for %d tokens", plan.Cells)
	}
	eye, err := attachProjector(options.Projector, w, session)
	if err != nil {
		session.free()
		return nil, err
	}
	m := &Model{
		info:    chat.Info{Context: plan.Context},
		vocab:   vocab,
		encoder: encoder,
		eye:     eye,
		loop:    newLoop(session, vocab, options.Parallel, plan.Context, plan.Cells, options.Log),
		free: func() {
			session.free()
			w.free()
		},
	}
	go m.loop.run()
	return m, nil
}
