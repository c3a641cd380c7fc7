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

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/llamacpp/matrix"
	"github.com/diglot/diglot/engine/local/memory"
)

// Open loads a model. Its errors are for the log, unless they are [*engine.Error].
func Open(ctx context.Context, options Options) (*decode.Model, error) {
	options = options.withDefaults()
	file, err := inspect(options.Path)
	if err != nil {
		return nil, unsupportedFile(options.Path, err)
	}
	if err := options.check(file); err != nil {
		return nil, unsupportedFile(options.Path, err)
	}
	c, err := configure(ctx, options, file)
	if err != nil {
		return nil, err
	}
	return decode.New(c), nil
}

// configure loads files that were checked.
func configure(ctx context.Context, options Options, file *gguf.File) (none decode.Config, err error) {
	plan, err := options.fit()
	if err != nil {
		return none, err
	}
	options.Planned(plan)
	sink := &logSink{log: options.Log}
	sink.register()
	w, err := load(ctx, options, file, sink)
	if err != nil {
		return none, err
	}
	releaseMappedPages(file.Paths)
	if err := w.adapt(options.Adapters, sink); err != nil {
		w.free()
		return none, err
	}
	c, err := build(w, file, options, plan, sink)
	if err != nil {
		w.free()
		return none, fmt.Errorf("%s: %w", options.Path, err)
	}
	if err := addDraftModel(ctx, &c, w, options, plan, sink); err != nil {
		c.Free()
		return none, err
	}
	return c, nil
}

// register makes llama.cpp use what is ours. A model that was loaded before computes
// without it.
func register() {
	C.shim_huge_pages(C.bool(grantsHugePages()))
	matrix.Register()
	C.shim_attention()
}

func load(ctx context.Context, options Options, file *gguf.File, sink *logSink) (*weights, error) {
	path := options.Path
	kernels := options.kernels(file)
	register()
	cancel := newFlag()
	stop := context.AfterFunc(ctx, cancel.raise)
	w := loadWeights(path, options.placement(), kernels, cancel)
	if stop() {
		cancel.free() // otherwise cancel.raise may still run, so leak the 4 bytes
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
	options.Log.Info("weights loaded", "kernels", options.Kernels.describe(file), "own_bytes", matrix.Bytes())
	return w, nil
}

// check checks the headers of the projector, the draft model and the adapters.
func (o Options) check(model *gguf.File) error {
	if err := checkProjector(model, o.Projector); err != nil {
		return err
	}
	if err := checkDraft(o.Path, model, o.Draft); err != nil {
		return err
	}
	return checkAdapters(model, o.Adapters)
}

// build creates the sessions over the loaded weights.
func build(w *weights, file *gguf.File, options Options, plan memory.Plan, sink *logSink) (none decode.Config, err error) {
	embedding, err := embeddingOf(file)
	switch {
	case err != nil:
		return none, err
	case !embedding.embedsOnly && !w.generates():
		return none, errors.New("the model does not generate text")
	}
	c, err := configOf(w, file, options, plan.Context)
	switch {
	case err != nil:
		return none, err
	case embedding.embedsOnly:
		err = embed(&c, w, embedding, options, sink) // changes c
		return c, err
	}
	if plan.Context > w.trainedContext() {
		options.Log.Warn("the context is longer than the model's training context", "context", plan.Context, "trained", w.trainedContext())
	}
	if makesVectors(file) {
		embedOnDemand(&c, w, embedding, options, plan, sink)
	}
	if err := generate(&c, w, options, sink, plan); err != nil {
		return none, fmt.Errorf("%w: %s", err, sink.reason())
	}
	return c, nil
}

// configOf is the configuration without sessions.
func configOf(w *weights, file *gguf.File, options Options, context int) (c decode.Config, err error) {
	stat, err := os.Stat(options.Path)
	if err != nil {
		return c, err
	}
	if c.Vocabulary, err = w.vocabulary(); err != nil {
		return c, err
	}
	c.Tokenizer, err = w.newTokenizer(options.Path, file, c.Vocabulary)
	c.Info = describe(options.Path, stat.ModTime(), file, c.Vocabulary, context)
	c.Free, c.Log = w.free, options.Log
	return c, err
}

// generate adds a session for text, with the KV cells of the plan.
func generate(c *decode.Config, w *weights, options Options, sink *logSink, plan memory.Plan) error {
	session := newSession(w, sessionConfig{
		cells:     plan.Cells,
		sequences: decode.SequenceIDs(options.Parallel, !w.recurrent()),
		rows:      decode.BatchRows,
		governor:  newGovernor(options),
		sink:      sink,
	})
	if session == nil {
		return fmt.Errorf("llama.cpp cannot create a context of %d tokens", plan.Cells)
	}
	images, err := attachProjector(options.Projector, w, session)
	if err != nil {
		session.Free()
		return err
	}
	c.Images, c.Info.Vision = images, images != nil
	c.Text = &decode.Text{Backend: session, Parallel: options.Parallel, Cells: plan.Cells, Draft: !options.NoDraft}
	c.Free = func() {
		session.Free()
		w.free()
	}
	return nil
}
