package decode

import (
	"context"
	"iter"
	"log/slog"
	"sync"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/tokenizer"
)

// Config is what a [Model] is made of.
type Config struct {
	Info       chat.Info
	Vocabulary *Vocabulary
	Tokenizer  *tokenizer.Tokenizer
	Images     ImageEncoder // nil: the model takes no images
	Text       *Text        // nil: it generates no text
	Vectors    *Vectors     // nil: it makes no embeddings
	Free       func()       // frees what the model was made of, when it is closed
	Log        *slog.Logger
}

// Text is how a model generates.
type Text struct {
	Backend  Backend
	Parallel int // most requests computed concurrently
	Cells    int // KV cells for all of them
}

// Vectors is how a model makes embeddings.
type Vectors struct {
	Shape EmbedShape
	Open  func() (VectorBackend, error) // called for the first embedding
}

// Model is a loaded model.
type Model struct {
	info     chat.Info
	vocab    *Vocabulary
	loop     *loop     // nil: the model generates no text
	embedder *embedder // nil: it makes no embeddings
	encoder  *tokenizer.Tokenizer
	eye      ImageEncoder // nil: the model takes no images
	free     func()
	once     sync.Once
}

var _ chat.Model = (*Model)(nil)

// New starts the loop of a model.
func New(c Config) *Model {
	m := &Model{info: c.Info, vocab: c.Vocabulary, encoder: c.Tokenizer, eye: c.Images, free: c.Free}
	if c.Vectors != nil {
		m.embedder = newEmbedder(c.Vectors.Shape, c.Vectors.Open)
	}
	if c.Text != nil {
		m.loop = newLoop(c.Text.Backend, c.Vocabulary, c.Text.Parallel, c.Info.Context, c.Text.Cells, c.Log)
		go m.loop.run()
	}
	return m
}

// Vocabulary is the table of the model's tokens.
func (m *Model) Vocabulary() *Vocabulary { return m.vocab }

// Tokenizer turns text into tokens, without what the model adds to prompts.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return m.encoder }

// Info describes the model.
func (m *Model) Info() chat.Info { return m.info }

// Stats counts what the model has done.
func (m *Model) Stats() Stats {
	if m.loop == nil {
		return Stats{}
	}
	m.loop.mu.Lock()
	defer m.loop.mu.Unlock()
	return m.loop.stats
}

// Decode continues job.Prompt; see [chat.Model].
func (m *Model) Decode(ctx context.Context, job chat.Job) iter.Seq2[chat.Piece, error] {
	return func(yield func(chat.Piece, error) bool) {
		if err := m.check(job); err != nil {
			yield(chat.Piece{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		views, err := findViews(ctx, job, m.eye)
		if err != nil {
			yield(chat.Piece{}, engine.AsError(err))
			return
		}
		seq := newSequence(ctx, m.vocab, job)
		seq.views = views
		if err := m.loop.submit(seq); err != nil {
			yield(chat.Piece{}, err)
			return
		}
		for {
			pieces, done, err := seq.out.take(ctx)
			for _, p := range pieces {
				if !yield(p, nil) {
					return
				}
			}
			if err != nil {
				yield(chat.Piece{}, err)
			}
			if done {
				return
			}
		}
	}
}

// check refuses jobs that cannot be computed.
func (m *Model) check(job chat.Job) *engine.Error {
	if m.loop == nil {
		return engine.Errorf(engine.CodeUnsupported, "The model does not generate text.").At(engine.Place{Field: engine.FieldModel})
	}
	n := len(job.Prompt)
	if n >= m.info.Context {
		return engine.Errorf(engine.CodeContextLength,
			"The prompt has %d tokens and leaves no room for an answer: the model's context is %d tokens.", n, m.info.Context).
			At(engine.Place{Field: engine.FieldMessages})
	}
	if n == 0 || job.MaxTokens < 1 {
		return engine.Errorf(engine.CodeInvalidArgument, "There is nothing to generate.")
	}
	for token := range job.Sampling.LogitBias {
		if token < 0 || token >= m.vocab.Size() {
			return engine.Errorf(engine.CodeInvalidArgument, "The model has no token %d: its tokens are 0 to %d.", token, m.vocab.Size()-1).
				At(engine.Place{Field: engine.FieldLogitBias})
		}
	}
	return nil
}

// Close frees the model.
func (m *Model) Close() error {
	m.once.Do(func() {
		if m.loop != nil {
			m.loop.close()
		}
		if m.embedder != nil {
			m.embedder.free()
		}
		m.free()
	})
	return nil
}
