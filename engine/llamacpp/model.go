package llamacpp

import (
	"context"
	"iter"
	"sync"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// Model is a loaded GGUF file.
type Model struct {
	info     chat.Info
	vocab    *vocabulary
	loop     *loop
	tokenize func(text string) ([]int32, error)
	free     func() // what the loop no longer uses
	once     sync.Once
}

var _ chat.Model = (*Model)(nil)

// Info describes the model.
func (m *Model) Info() chat.Info { return m.info }

// Stats counts what the model has done.
func (m *Model) Stats() Stats {
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
		seq, err := m.loop.submit(ctx, job)
		if err != nil {
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
		if token < 0 || token >= m.vocab.size() {
			return engine.Errorf(engine.CodeInvalidArgument, "The model has no token %d: its tokens are 0 to %d.", token, m.vocab.size()-1).
				At(engine.Place{Field: engine.FieldLogitBias})
		}
	}
	return nil
}

// Tokenize turns a prompt into tokens. The model's start token is put in
// front where the model wants one and the template has not written it.
//
// A prompt of more than twice the context is not counted to its end: a client
// can send tens of megabytes, which would take minutes.
func (m *Model) Tokenize(ctx context.Context, prompt chat.Prompt) ([]int32, error) {
	var tokens []int32
	enough := 2 * m.info.Context
	pieces := m.vocab.pieces(prompt.Spans)
	for len(pieces) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, engine.AsError(err)
		}
		// llama.cpp's time grows with the square of a text's length. Few
		// tokens have more than eight bytes, so what is cut here is too long
		// or a desert of blanks, where a cut does no harm.
		text := prefix(pieces[0], 8*enough)
		if pieces[0] = pieces[0][len(text):]; pieces[0] == "" {
			pieces = pieces[1:]
		}
		part, err := m.tokenize(text)
		if err != nil {
			return nil, engine.Errorf(engine.CodeInternal, "The prompt could not be turned into tokens.").Because(err)
		}
		tokens = append(tokens, part...)
		if len(tokens) > enough && len(pieces) > 0 {
			return nil, m.tooLong(len(tokens))
		}
	}
	if m.vocab.addBOS && m.vocab.bos >= 0 && (len(tokens) == 0 || tokens[0] != m.vocab.bos) {
		tokens = append([]int32{m.vocab.bos}, tokens...)
	}
	return tokens, nil
}

// tooLong is the error for a prompt with at least n tokens.
func (m *Model) tooLong(n int) *engine.Error {
	err := engine.Errorf(engine.CodeContextLength,
		"The prompt is too long: it has more than %d tokens, and the model's context is %d tokens.", n, m.info.Context).
		At(engine.Place{Field: engine.FieldMessages})
	err.Tokens, err.Limit = n, m.info.Context
	return err
}

// prefix is the first n bytes of text, or fewer, so that they end with a
// whole character.
func prefix(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Close frees the model.
func (m *Model) Close() error {
	m.once.Do(func() {
		m.loop.close()
		m.free()
	})
	return nil
}
