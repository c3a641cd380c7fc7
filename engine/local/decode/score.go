package decode

import (
	"context"
	"math"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// readScored is how many tokens of a prompt that is scored are read at a time:
// the logits of each take room for the whole vocabulary.
const readScored = 64

// Score says how likely the tokens of a prompt are; see [chat.Model]. The
// prompt is read from its first token on, whatever the cache holds, since the
// cache keeps no logits.
func (m *Model) Score(ctx context.Context, job chat.Job) ([]engine.TokenLogprob, error) {
	job.MaxTokens = 1
	if err := m.check(job); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seq := newScoring(ctx, m.vocab, job)
	if seq.pending() == 0 {
		return seq.scores, nil
	}
	if err := m.loop.submit(seq); err != nil {
		return nil, err
	}
	for {
		_, done, err := seq.out.take(ctx)
		if err != nil {
			return nil, err
		}
		if done {
			return seq.scores, nil
		}
	}
}

// newScoring makes a sequence that reads a prompt and generates nothing. The
// last token is not read: nothing comes behind it.
func newScoring(ctx context.Context, vocab *Vocabulary, job chat.Job) *sequence {
	seq := newSequence(ctx, vocab, job)
	seq.tokens = seq.tokens[:len(seq.tokens)-1]
	seq.scores = make([]engine.TokenLogprob, len(job.Prompt))
	seq.scores[0] = engine.TokenLogprob{Token: vocab.Spelling(job.Prompt[0]), Logprob: math.NaN()}
	return seq
}

// score books how likely each token is that follows one of the batch.
func (l *loop) score(s *sequence) {
	for k := range s.rows {
		p := s.sampler.probabilities(l.backend.Logits(s.row - s.rows + 1 + k))
		if p == nil {
			s.fail(engine.Errorf(engine.CodeInternal, "The model could not read the prompt.").Because(errNoLogits))
			return
		}
		at := len(s.cells) + k + 1
		token := s.job.Prompt[at]
		s.scores[at] = engine.TokenLogprob{Token: l.vocab.Spelling(token), Logprob: p.of(token), Top: p.top}
	}
}
