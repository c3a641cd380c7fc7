package decode

import (
	"context"
	"math"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// scoreChunk is the prefill chunk of a prompt that is scored. It is small
// because logits are computed for each token.
const scoreChunk = 64

// Score returns the log probabilities of the prompt's tokens; see [chat.Model].
// It shares no prefix, since the cache keeps no logits.
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

// newScoring returns a sequence that generates nothing. It does not decode the
// last token, whose logits would predict what follows the prompt.
func newScoring(ctx context.Context, vocab *Vocabulary, job chat.Job) *sequence {
	seq := newSequence(ctx, vocab, job)
	seq.tokens = seq.tokens[:len(seq.tokens)-1]
	seq.scores = make([]engine.TokenLogprob, len(job.Prompt))
	seq.scores[0] = engine.TokenLogprob{Token: vocab.Bytes(job.Prompt[0]), Logprob: math.NaN()}
	return seq
}

// score records the log probabilities of the tokens that follow the batch's.
func (l *loop) score(s *sequence) {
	for k := range s.rows {
		p := s.sampler.logProbabilities(l.backend.Logits(s.lastRow - s.rows + 1 + k))
		if p == nil {
			s.fail(engine.Errorf(engine.CodeInternal, "The model could not score the prompt.").Because(errNoLogits))
			return
		}
		at := len(s.cells) + k + 1
		token := s.job.Prompt[at]
		s.scores[at] = engine.TokenLogprob{Token: l.vocab.Bytes(token), Logprob: p.of(token), Top: p.top}
	}
}
