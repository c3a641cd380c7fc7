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

// Config configures a [Model].
type Config struct {
	Info       chat.Info
	Vocabulary *Vocabulary
	Tokenizer  *tokenizer.Tokenizer
	Images     ImageEncoder // nil: the model takes no images
	Text       *Text        // nil: it generates no text
	Vectors    *Vectors     // nil: it makes no embeddings
	Free       func()       // called by Close
	Log        *slog.Logger
}

// Text configures generation.
type Text struct {
	Backend  Backend
	Parallel int  // concurrent requests
	Cells    int  // KV cells, shared by all requests
	Draft    bool // guess tokens, if the backend shares prefixes

	DraftModel *DraftModel // guesses further ones; nil: there is none
}

// Vectors configures embeddings.
type Vectors struct {
	Limits EmbeddingLimits
	Open   func() (VectorBackend, error) // called for the first embedding
}

// Model is a loaded model.
type Model struct {
	info         chat.Info
	vocab        *Vocabulary
	loop         *loop     // nil: the model generates no text
	embedder     *embedder // nil: it makes no embeddings
	tokenizer    *tokenizer.Tokenizer
	imageEncoder ImageEncoder // nil: the model takes no images
	free         func()
	once         sync.Once
}

var _ chat.Model = (*Model)(nil)

// New returns a model and starts its decode loop.
func New(c Config) *Model {
	m := &Model{info: c.Info, vocab: c.Vocabulary, tokenizer: c.Tokenizer, imageEncoder: c.Images, free: c.Free}
	if c.Vectors != nil {
		m.embedder = newEmbedder(c.Vectors.Limits, c.Vectors.Open)
	}
	if c.Text != nil {
		m.loop = newLoop(c.Text.Backend, c.Vocabulary, c.Text.Parallel, c.Info.Context, c.Text.Cells, c.Log)
		if c.Text.Draft && c.Text.Backend.SharesPrefixes() {
			m.loop.drafter = newDrafter(c.Vocabulary, c.Tokenizer)
			if d := c.Text.DraftModel; d != nil {
				m.loop.drafter.second = newSpeculator(*d, c.Vocabulary, c.Text.Parallel, c.Log)
			}
		}
		go m.loop.run()
	}
	return m
}

// Vocabulary returns the model's vocabulary.
func (m *Model) Vocabulary() *Vocabulary { return m.vocab }

// Tokenizer returns the tokenizer, which adds no BOS or EOS token.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return m.tokenizer }

// Info describes the model.
func (m *Model) Info() chat.Info { return m.info }

// Stats returns the counters of the decode loop.
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
		images, err := findImageChunks(ctx, job, m.imageEncoder)
		if err != nil {
			yield(chat.Piece{}, engine.AsError(err))
			return
		}
		seq := newSequence(ctx, m.vocab, job)
		seq.images = images
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

// check rejects jobs that cannot be computed.
func (m *Model) check(job chat.Job) *engine.Error {
	if m.loop == nil {
		return engine.Errorf(engine.CodeUnsupported, "The model does not generate text.").At(engine.Place{Field: engine.FieldModel})
	}
	n := len(job.Prompt)
	if n >= m.info.Context {
		return engine.Errorf(engine.CodeContextLength,
			"The prompt has %d tokens, which leaves none for the output: the model's context is %d tokens.", n, m.info.Context).
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
